import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withPostgres } from '../helpers/postgres-server.ts'
import { beyond, type Cost, measureRows } from './measure.ts'
import { heading, lineOf } from './report.ts'
import { DOORS, type Row } from './row.ts'
import { ROWS } from './rows/index.ts'

const HELP = `npm run test:hostile -- [options]
  --only TEXT     rows whose door or name has the text in it; several times for several
  --quick         the rows that are part of npm test
  --json FILE     the figures as JSON
  --list          only says which rows there are`

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean' },
    json: { type: 'string' },
    list: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})
process.exitCode = await main()

async function main(): Promise<number> {
  const rows = ROWS.filter(isWanted)
  if (values.help) return say(HELP)
  if (values.list) return say(rows.map(({ door, name }) => `${door}: ${name}`).join('\n'))
  const costs: Cost[] = []
  await withPostgres(async ({ url, folder }) => {
    Object.assign(process.env, { TEST_DATABASE_URL: url, TEST_FOLDER: folder })
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
  })
  const failed = costs.filter((cost) => beyond(cost) !== undefined)
  say(`${costs.length} inputs, ${failed.length} beyond the bound`)
  return failed.length > 0 || costs.length === 0 ? 1 : 0
}

function isWanted({ door, name, quick }: Row): boolean {
  if (values.quick && !quick) return false
  return values.only === undefined || values.only.some((text) => `${door}: ${name}`.includes(text))
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
