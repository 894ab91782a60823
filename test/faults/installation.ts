import { openDatabase, readConfig, type Sql } from '@postrider/core'
import type { Test } from 'tap'
import { type Installation, KEY, startUp, upSettings } from '../cli/postrider.ts'
import { moveClock } from '../helpers/database.ts'
import { type Judgement, Ledger } from '../helpers/ledger.ts'
import type { Sink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** `npm start` as one machine has it, mail to a sink, and a ledger that is none of its processes. */
export interface Machine {
  readonly env: Readonly<Record<string, string>>
  readonly ledger: Ledger
  readonly running: Installation
  /** Starts everything again; throws with what it said when it does not come up. Answers the milliseconds it took. */
  start(): Promise<number>
  /** Lets the queue run empty and evaluates: what was acknowledged and never arrived nor got a final state and event is lost. */
  evaluate(): Promise<Judgement & { readonly unrecorded: readonly string[] }>
}

export async function openMachine(t: Test, sink: Sink, extra: Record<string, string> = {}): Promise<Machine> {
  const env = await upSettings({ DELIVERY: `smtp://127.0.0.1:${sink.port}`, CALLS_PER_MINUTE: '0', ...extra })
  let running = await startRunning(t, env)
  const apiKey = KEY.exec(running.stdout)?.[0] as string
  let sql: Sql | undefined
  t.teardown(() => sql?.end())
  const watched = {
    config: readConfig(env),
    get sql() {
      // The embedded database has another port at every start.
      return (sql ??= openDatabase({ url: readConfig(env).databaseUrl as string, name: 'ledger', connections: 2 }))
    },
  }
  const ledger = new Ledger(watched, { apiKey, domain: 'demo.example' })
  return {
    env,
    ledger,
    get running() {
      return running
    },
    async start() {
      const from = performance.now()
      running = await startRunning(t, env)
      return performance.now() - from
    },
    async evaluate() {
      await untilEmpty(watched.sql)
      return { ...(await ledger.evaluate(sink)), unrecorded: await unrecorded(watched.sql) }
    },
  }
}

async function startRunning(t: Test, env: Readonly<Record<string, string>>): Promise<Installation> {
  const started = await startUp(t, env)
  if (!started.stdout.includes('Running.')) throw new Error(`it did not start: ${started.stderr}`)
  return started
}

async function untilEmpty(sql: Sql): Promise<void> {
  const held = () => sql`select 1 from delivery_queue where worker_id is not null and state = 'sending' limit 1`
  await until('takeover from the killed workers', async () => (await held()).length === 0, 90_000)
  // What is indeterminate waits five minutes.
  await moveClock(sql, '10 minutes')
  const waiting = () => sql`select 1 from delivery_queue limit 1`
  await until('an empty queue', async () => (await waiting()).length === 0, 180_000)
}

/** Recipients whose delivery has a final state and no event that says so. */
async function unrecorded(sql: Sql): Promise<string[]> {
  const rows = await sql<{ recipient: string }[]>`
    select d.recipient from deliveries d
     where not exists (select 1 from events e
                        where e.message_id = d.message_id and e.recipient_no = d.recipient_no
                          and e.type = case d.state when 'delivered' then 'sent' else d.state end)`
  return rows.map(({ recipient }) => recipient)
}
