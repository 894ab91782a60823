import {
  createCore,
  createLog,
  DEADLINES,
  isDatabaseAway,
  openDatabase,
  readConfig,
  type Sql,
  withDeadline,
} from '@postrider/core'
import t, { type Test } from 'tap'
import { isInTime } from '../../../helpers/pace.ts'
import { makeService } from '../../../helpers/service.ts'
import { startSilentProxy } from '../../../helpers/silent-proxy.ts'
import { until } from '../../../helpers/until.ts'
import { acceptMessage } from '../../submission.ts'

// They wait, and do nothing else.
t.jobs = 8

/** A service whose database is reached over connections that can go silent, by a pool of so many. */
async function startBehindProxy(t: Test, connections: number) {
  const service = await makeService(t)
  const proxy = await startSilentProxy(t, service.env.DATABASE_URL as string)
  const pool = openDatabase({ url: proxy.url, name: 'test', connections })
  const sql = withDeadline(pool, 'mail')
  t.teardown(() => pool.end({ timeout: 0 }))
  const open = () => Promise.all(Array.from({ length: connections }, () => sql`select pg_sleep(0.05)`))
  await open()
  return { service, proxy, pool, sql }
}

async function failureOf(promise: PromiseLike<unknown>): Promise<{ code?: string }> {
  return Promise.resolve(promise).then(
    () => ({ code: 'none: it was answered' }),
    (error: { code?: string }) => error,
  )
}

t.test('a statement whose connection went silent fails in time, and what comes after it works', async (t) => {
  const { proxy, sql } = await startBehindProxy(t, 5)
  proxy.silence()
  const startedAt = performance.now()
  const error = await failureOf(sql`select 1`)
  const waited = performance.now() - startedAt
  t.equal(error.code, 'CONNECTION_SILENT')
  t.equal(isDatabaseAway(error), true)
  t.ok(waited >= DEADLINES.mail && isInTime(startedAt, 2 * DEADLINES.mail), `it failed after ${Math.round(waited)} ms`)
  // The four others were as silent, and nobody has to find that out one by one.
  const all = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => sql<{ n: number }[]>`select ${n}::int as n`))
  t.strictSame(
    all.map(([row]) => row?.n),
    [1, 2, 3, 4, 5, 6],
  )
  t.ok(isInTime(startedAt, 2 * DEADLINES.mail), 'at once')
})

t.test('a transaction whose connection goes silent fails in time', async (t) => {
  const { proxy, sql } = await startBehindProxy(t, 2)
  const error = await failureOf(
    sql.begin(async (transaction) => {
      await transaction`select 1`
      proxy.silence()
      await transaction`select 2`
    }),
  )
  t.equal(isDatabaseAway(error), true)
  t.match(await sql`select 1 as one`, [{ one: 1 }])
})

t.test('what waits for a connection that does not come is given up unsent', async (t) => {
  const { proxy, sql } = await startBehindProxy(t, 1)
  proxy.swallow()
  const startedAt = performance.now()
  const statements = [1, 2, 3].map((n) => failureOf(sql`select ${n}::int`))
  const errors = await Promise.all([...statements, failureOf(sql.begin(async () => {}))])
  for (const error of errors) t.equal(isDatabaseAway(error), true)
  t.ok(isInTime(startedAt, 2 * DEADLINES.mail + 2000))
  proxy.heal()
  t.match(await until('an answer', () => sql`select 1 as one`.catch(() => false as const)), [{ one: 1 }])
})

t.test('a statement of a kind that may take longer is waited for', async (t) => {
  const { pool } = await startBehindProxy(t, 2)
  const patient = withDeadline(pool, 'work')`select pg_sleep(${(DEADLINES.mail + 1500) / 1000})`
  t.equal((await failureOf(patient)).code, 'none: it was answered')
})

t.test('the first statement of a new connection may take as long as any other', async (t) => {
  const { env } = await makeService(t)
  const pool = openDatabase({ url: env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => pool.end({ timeout: 0 }))
  // Longer than a connection may take to be established.
  t.match(await pool`select pg_sleep(7), 1 as one`, [{ one: 1 }])
})

t.test(
  'when the database says nothing at all, a statement that may take longer is given up with the others',
  async (t) => {
    const { proxy, pool, sql } = await startBehindProxy(t, 3)
    proxy.silence()
    const startedAt = performance.now()
    const [slow, quick] = await Promise.all([failureOf(withDeadline(pool, 'work')`select 1`), failureOf(sql`select 1`)])
    t.strictSame([slow.code, quick.code], ['CONNECTION_SILENT', 'CONNECTION_SILENT'])
    t.ok(isInTime(startedAt, 2 * DEADLINES.mail))
  },
)

t.test('an accept whose response is lost in silence gets the response of what was stored, once', async (t) => {
  const { service, proxy, pool } = await startBehindProxy(t, 3)
  const sender = await service.makeSender()
  const core = createCore({ sql: pool, config: readConfig({ ...service.env }), log: createLog('test', 'silent') })
  core.readiness.close()
  await core.readiness.check()
  await acceptMessage({ ...service, core }, sender)
  proxy.mute()
  const { messageId } = await acceptMessage({ ...service, core }, sender)
  t.strictSame(await idsOf(service), 2)
  t.ok(await service.core.messages.show(messageId))
})

t.test('an accept that is lost in silence is stored once, on a connection that works', async (t) => {
  const { service, proxy, pool } = await startBehindProxy(t, 3)
  const sender = await service.makeSender()
  const core = createCore({ sql: pool, config: readConfig({ ...service.env }), log: createLog('test', 'silent') })
  core.readiness.close()
  await core.readiness.check()
  await acceptMessage({ ...service, core }, sender)
  proxy.silence()
  const { messageId } = await acceptMessage({ ...service, core }, sender)
  t.strictSame(await idsOf(service), 2)
  t.ok(await service.core.messages.show(messageId))
})

t.test('a core whose connections are all silent says so, and is ready again with new ones', async (t) => {
  const { service, proxy, pool } = await startBehindProxy(t, 3)
  const core = createCore({ sql: pool, config: readConfig({ ...service.env }), log: createLog('test', 'silent') })
  t.teardown(() => core.readiness.close())
  t.match(await core.readiness.check(), { ready: true })
  proxy.silence()
  const silentAt = performance.now()
  await until('not ready', () => !core.readiness.current().ready)
  const turned = performance.now() - silentAt
  t.ok(isInTime(silentAt, 5000), `not ready after ${Math.round(turned)} ms`)
  t.strictSame(core.readiness.current().reasons, ['the database does not respond'])
  await until('ready again', () => core.readiness.current().ready, 15_000)
  t.comment(
    `not ready after ${Math.round(turned)} ms, ready again after ${Math.round(performance.now() - silentAt)} ms`,
  )
})

t.test('who listens hears again after the connection went silent', async (t) => {
  const { service, proxy, pool } = await startBehindProxy(t, 1)
  let heard = 0
  await pool.listen('news', () => heard++)
  proxy.silence()
  await until(
    'news',
    async () => {
      await service.sql`select pg_notify('news', '')`
      return heard > 0
    },
    20_000,
  )
  t.pass()
})

t.test('a process that could not hear for a while has not waited meanwhile', async (t) => {
  const { pool } = await startBehindProxy(t, 2)
  const answer = withDeadline(pool, 500)`select 1 as one`
  // It goes out, and then nothing can be heard for longer than its deadline.
  await new Promise((resolve) => setTimeout(resolve, 0))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
  t.match(await answer, [{ one: 1 }])
})

async function idsOf({ sql }: { sql: Sql }): Promise<number> {
  return (await sql`select id from messages`).length
}
