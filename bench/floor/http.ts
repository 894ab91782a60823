import { expectCount } from '../harness/expect-count.ts'
import { type HttpResult, httpLoad } from '../harness/load.ts'
import { makeCall } from '../harness/messages.ts'
import { freePort, start } from '../harness/processes.ts'
import { ProcessorTime, type Roots } from '../harness/processor.ts'
import { median } from '../harness/rounds.ts'
import { type Bare, duringParts, type Floor, FROM, ROUNDS, withBareTables } from './findings.ts'

const CONNECTIONS = 64
const SECONDS = 5
const WARM_UP_SECONDS = 3
const IDLE = 'HTTP, idle Fastify'
const BODIES = 'HTTP, Fastify and two columns'
const ROWS = 'HTTP, Fastify and four rows'

/** Durable accept over HTTP: Fastify that stores the body of a call, alone or with three rows, before it answers; beside one that does nothing. */
export function http(): Promise<Floor> {
  return withBareTables(async (bare) => {
    const times = new ProcessorTime()
    const rates: Record<string, number[]> = {}
    const apis = {
      [IDLE]: await open('noop.ts'),
      [BODIES]: await open('bare-api.ts', bare.url, 'bodies'),
      [ROWS]: await open('bare-api.ts', bare.url, 'rows'),
    }
    for (const { port } of Object.values(apis)) await load(port, WARM_UP_SECONDS)
    await takeStored(bare)
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, { port, pid }] of Object.entries(apis)) {
        const parts: Record<string, Roots> = { process: [pid], ...(name !== IDLE && { Postgres: bare.postgres }) }
        const count = ({ succeeded }: HttpResult): number => succeeded
        const { perSecond, succeeded } = await duringParts(times, name, parts, count, () => load(port, SECONDS))
        ;(rates[name] ??= []).push(perSecond)
        const stored = await takeStored(bare)
        const wanted = name === IDLE ? 0 : succeeded
        // At its end the load generator hangs up on calls under way, as in cases/http-accept.ts.
        if (stored < wanted || stored > wanted + 2 * CONNECTIONS) expectCount('bodies stored', stored, wanted)
      }
    }
    const ratio = (name: string): number => median(rates[name] ?? []) / median(rates[IDLE] ?? [])
    return {
      figures: [
        { unit: 'calls/s', rounds: rates },
        { unit: 'µs', rounds: times.rounds },
      ],
      ratios: Object.fromEntries(
        [BODIES, ROWS].map((name) => [`${name}, calls/s against the idle Fastify`, ratio(name)]),
      ),
    }
  })
}

async function open(file: string, ...more: string[]): Promise<{ port: number; pid: number }> {
  const port = await freePort()
  const { pid } = await start(process.execPath, [`bench/load/${file}`, String(port), ...more], { ready: /started/ })
  return { port, pid }
}

async function load(port: number, seconds: number): Promise<HttpResult> {
  const url = `http://127.0.0.1:${port}/v2/sendEmail`
  const result = await httpLoad(
    { url, apiKey: 'none', body: makeCall(FROM, 2000, 1), connections: CONNECTIONS },
    seconds,
  )
  expectCount('calls refused', result.failed, 0)
  return result
}

/** Returns how many bodies are stored, and empties the tables. */
async function takeStored({ sql }: Bare): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from stored`
  await sql`truncate stored, stored_messages, stored_queue, stored_events`
  return row?.count ?? 0
}
