import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withPostgres } from '../helpers/postgres-server.ts'
import { beyond, type Cost, measureRows } from './measure.ts'
import { heading, lineOf, trafficLine } from './report.ts'
import { DOORS, type Row } from './row.ts'
import { ROWS } from './rows/index.ts'
import { search } from './search.ts'
import { traffic, wrongWith } from './traffic.ts'

const HELP = `npm run test:hostile -- [options]
  --only TEXT     rows whose door or name has the text in it; several times for several
  --quick         the rows that are part of npm test
  --json FILE     the figures as JSON
  --search N      looks for slow inputs of each parser at random, for N seconds in all; 60 unless rows are named
  --seed N        of the search and the traffic; made anew, and said, unless given
  --traffic       instead: HOSTILE_SECONDS (60) of hostile traffic at each door, beside an ordinary client
  --list          only says which rows there are`

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
    json: { type: 'string' },
    list: { type: 'boolean' },
    search: { type: 'string' },
    seed: { type: 'string' },
    traffic: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
// An attack that was cut off may leave a server open.
process.exit(await main())

async function main(): Promise<number> {
  const rows = ROWS.filter(isWanted)
  if (values.help) return say(HELP)
  if (values.list) return say(rows.map(({ door, name }) => `${door}: ${name}`).join('\n'))
  return withPostgres(async ({ url, folder }) => {
    Object.assign(process.env, { TEST_DATABASE_URL: url, TEST_FOLDER: folder })
    if (values.traffic) return (await runTraffic(rows)) ? 0 : 1
    const measured = await runRows(rows)
    return runSearch() && measured ? 0 : 1
  })
}

async function runRows(rows: readonly Row[]): Promise<boolean> {
  const costs: Cost[] = []
  say(heading())
  for (const door of DOORS) {
    const own = rows.filter((row) => row.door === door)
    if (own.length === 0) continue
    for await (const cost of measureRows(door, own)) {
      say(lineOf(cost))
      costs.push(cost)
      if (values.json) writeFileSync(values.json, `${JSON.stringify(costs, null, 1)}\n`)
    }
  }
  const failed = costs.filter((cost) => beyond(cost) !== undefined)
  const inputs = costs.reduce((sum, cost) => sum + cost.inputs, 0)
  say(`${costs.length} rows with ${inputs} inputs, ${failed.length} beyond the bound`)
  return failed.length === 0 && costs.length > 0
}

function runSearch(): boolean {
  const seconds = Number(values.search ?? (values.only || values.quick ? 0 : 60))
  if (seconds === 0) return true
  say(`looking for slow inputs for ${seconds} s, seed ${seed}`)
  let found = 0
  for (const result of search(seconds, seed)) {
    if ('runs' in result) continue
    found++
    say(
      `SLOW   ${result.parser}: ${Math.round(result.ms)} ms for ${result.octets} octets: ${JSON.stringify(result.pieces)}`,
    )
  }
  say(`${found} slow inputs found`)
  return found === 0
}

async function runTraffic(rows: readonly Row[]): Promise<boolean> {
  const seconds = Number(process.env.HOSTILE_SECONDS ?? 60)
  say(`hostile traffic for ${seconds} s at each door, seed ${seed}`)
  let sound = true
  for (const door of DOORS) {
    const own = rows.filter((row) => row.door === door)
    if (own.length === 0) continue
    const result = await traffic(door, own, { seconds, seed })
    say(trafficLine(result))
    if (wrongWith(result) !== undefined) sound = false
  }
  return sound
}

function isWanted({ door, name, quick, inputs }: Row): boolean {
  if (values.quick && !quick) return false
  // A row of many inputs would be most of the traffic.
  if (values.traffic && inputs !== undefined) return false
  return values.only === undefined || values.only.some((text) => `${door}: ${name}`.includes(text))
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
