import { openDatabase, type Sql } from '@postrider/core'
import t from 'tap'
import { keep } from '../helpers/keeper.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { makeService } from '../helpers/service.ts'
import { startSilentProxy } from '../helpers/silent-proxy.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

const TABLES = ['messages', 'bodies', 'delivery_queue', 'events', 'idempotency_keys', 'credit_usage']
/** Seconds: shorter than a commit is waited for, between its attempts, just before and behind the last refusal, and for long. */
const LENGTHS = [1, 3, 5.2, 7.5, 9.5, 14, 30]
/** Of each table in turn; all of them, and more calls, with `npm run test:faults`. */
const isWhole = process.env.FAULT_SECONDS !== undefined
const LOCKS = isWhole
  ? LENGTHS.flatMap((seconds, at) => [[TABLES[at % 6], seconds] as const, [TABLES[(at + 3) % 6], seconds] as const])
  : [['events', 9.5] as const]
const STANDSTILLS = isWhole ? [3, 6, 12] : [6]
const CALLS = isWhole ? 10_000 : 500

t.test(
  'what is refused while commits wait for locks, stand still or are cut off is never stored, and what is accepted is delivered',
  { timeout: 900_000 },
  async (t) => {
    const sink = await startSink(t)
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const proxy = await startSilentProxy(t, service.env.DATABASE_URL as string)
    const env = { ...service.env, DATABASE_URL: proxy.url }
    const locker = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
    t.teardown(() => locker.end({ timeout: 0 }))
    const ledger = new Ledger(service, await service.makeSender())
    const keepers = await Promise.all((['api', 'relay', 'delivery'] as const).map((name) => keep(t, name, env)))
    const load = ledger.load(24)
    const more = async () => {
      const before = ledger.acknowledged.size
      await until('load', () => ledger.acknowledged.size > before + 50, 60_000)
    }
    for (const [table = '', seconds] of LOCKS) {
      await more()
      await lockFor(locker, table, seconds)
    }
    for (const seconds of STANDSTILLS) {
      await more()
      await standStill(service.sql, seconds)
    }
    for (let cut = 0; cut < 3; cut++) {
      await more()
      // Once what was asked arrives all the same.
      if (cut === 1) proxy.mute()
      else proxy.silence()
    }
    await more()
    await until('enough calls', () => ledger.answers.length > CALLS, 300_000)
    await load.stop()
    await ledger.drain(90_000)
    const evaluated = await ledger.evaluate(sink)
    const counts = Map.groupBy(ledger.answers, ({ door, code }) => `${door} ${code}`)
    const codes = [...counts].map(([name, answers]) => `${name} × ${answers.length}`).sort()
    t.comment(
      `figures: ${LOCKS.length} locks, ${STANDSTILLS.length} standstills, 3 cuts; ${codes.join(', ')}; ${figures(evaluated)}`,
    )
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.unmarked, [], 'each extra copy is marked indeterminate')
    t.notOk(
      ledger.answers.some(({ code }) => code === 500),
      'a lock of another program is nobody’s fault',
    )
    for (const keeper of keepers) await keeper.stop()
  },
)

/** Locks the table as VACUUM FULL does. */
async function lockFor(locker: Sql, table: string, seconds: number): Promise<void> {
  await locker.begin(async (sql) => {
    await sql`select set_config('statement_timeout', '0', true)`
    await sql`lock table ${sql(table)} in access exclusive mode`
    await sql`select pg_sleep(${seconds})`
  })
}

/** Stops the processes of Postgres that serve accepts where they stand. */
async function standStill(sql: Sql, seconds: number): Promise<void> {
  const rows = await until('accepts', async () => {
    const found = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
       where datname = current_database() and application_name ~ '^postrider (api|relay) ' and query like '%message as materialized%'`
    return found.length > 1 && found
  })
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  for (const { pid } of rows) process.kill(pid, 'SIGCONT')
}
