import { createCore, createLog, createSecrets, openDatabase, readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { systemClock } from '../../../packages/core/src/platform/clock.ts'
import { databaseClock } from '../../../packages/core/src/platform/database/database-clock.ts'
import { watchReadiness } from '../../../packages/core/src/platform/process/readiness.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { refused } from '../refused.ts'
import { acceptMessage } from '../submission.ts'

/** A core with a pool of its own, as another process would have it. */
function anotherCore(t: Test, service: TestService, settings: Record<string, string> = {}) {
  const sql = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 2 })
  const config = readConfig({ ...service.env, ...settings })
  const core = createCore({ sql, config, log: createLog('test', 'silent') })
  t.teardown(() => core.close())
  return core
}

function databaseName(service: TestService): string {
  return new URL(service.env.DATABASE_URL as string).pathname.slice(1)
}

t.test('a core is not ready before the database was asked, and accepts nothing until then', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const core = anotherCore(t, service)
  t.strictSame(core.readiness.current(), { ready: false, reasons: ['the database has not been checked yet'] })
  t.equal(await refused(acceptMessage({ ...service, core }, sender)), 'notReady')
  t.strictSame(await core.readiness.check(), { ready: true, reasons: [] })
  await acceptMessage({ ...service, core }, sender)
})

for (const setting of ['synchronous_commit']) {
  t.test(`a database with ${setting} off makes a core not ready, unless a setting declares a test`, async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    await service.sql.unsafe(`alter database ${databaseName(service)} set ${setting} = off`)
    const core = anotherCore(t, service)
    const { ready, reasons } = await core.readiness.check()
    t.equal(ready, false)
    t.match(reasons, [new RegExp(`${setting} = off.*turn it on`)])
    t.equal(await refused(acceptMessage({ ...service, core }, sender)), 'notReady')
    const daring = anotherCore(t, service, { ALLOW_UNSAFE_DATABASE: '1' })
    t.match(await daring.readiness.check(), { ready: true })
  })
}

t.test('a database that lacks a migration makes a core not ready, with what to do', async (t) => {
  const service = await makeService(t)
  await service.sql`delete from schema_migrations where name = '0005_content.sql'`
  const { ready, reasons } = await service.core.readiness.check()
  t.equal(ready, false)
  t.match(reasons.join(), /migrations not applied: 0005_content\.sql; run "npm run postrider -- migrate"/)
})

t.test(
  'a version that is older than the schema allows is not ready and says so, at its start and while it runs',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    const [row] = await service.sql<{ last: number }[]>`
    select max(left(name, 4))::int as last from schema_migrations`
    const last = row?.last as number
    await service.sql`update schema_minimum set version = ${last}`
    t.match(await service.core.readiness.check(), { ready: true })
    // As the contract of a version that is one migration ahead.
    await service.sql`insert into schema_migrations (name, digest) values ('9999_later.sql', '')`
    t.match(await service.core.readiness.check(), { ready: true }, 'a migration that only adds is compatible')
    await service.sql`update schema_minimum set version = ${last + 1}`
    const reason = `(its last migration is ${last}, the schema requires ${last + 1}): run the newer version`
    const { ready, reasons } = await service.core.readiness.check()
    t.equal(ready, false)
    t.match(reasons.join(), reason)
    t.equal(await refused(acceptMessage(service, sender)), 'notReady')
    const later = anotherCore(t, service)
    t.match((await later.readiness.check()).reasons.join(), reason)
  },
)

t.test('a core is not ready while the database does not answer, and ready again by itself', async (t) => {
  const service = await makeService(t)
  const core = anotherCore(t, service)
  const admin = openDatabase({ url: process.env.TEST_DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => admin.end())
  t.match(await core.readiness.check(), { ready: true })

  await admin.unsafe(`alter database ${databaseName(service)} allow_connections false`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${databaseName(service)}`
  await until('not ready', () => !core.readiness.current().ready)
  t.strictSame(core.readiness.current().reasons, ['the database does not respond'])
  await admin.unsafe(`alter database ${databaseName(service)} allow_connections true`)
  await until('ready again', () => core.readiness.current().ready)
})

t.test(
  'on a host with more work than it can do, a statement may take 4 s before the database counts as away',
  async (t) => {
    const service = await makeService(t)
    const sql = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 2 })
    const watch = (load: number) =>
      watchReadiness({
        sql,
        log: createLog('test', 'silent'),
        secrets: createSecrets(service.env.SECRET_KEY as string),
        clock: databaseClock(systemClock),
        allowUnsafeDatabase: true,
        every: 3_600_000,
        load: () => load,
      })
    const [idle, busy] = [watch(1), watch(4)]
    t.teardown(async () => {
      idle.close()
      busy.close()
      await sql.end()
    })
    t.match([await idle.check(), await busy.check()], [{ ready: true }, { ready: true }])
    const lock = await service.sql.reserve()
    await lock`begin`
    await lock`lock table schema_migrations in access exclusive mode`
    const checks = Promise.all([idle.check(), busy.check()])
    await until('not ready', () => !idle.current().ready)
    await lock`rollback`
    lock.release()
    const [, { ready }] = await checks
    t.ok(ready, 'the other one has waited')
  },
)

t.test('who waits for an answer of the database waits beyond the checks that get none', async (t) => {
  const service = await makeService(t)
  const core = anotherCore(t, service)
  const lock = await service.sql.reserve()
  await lock`begin`
  await lock`lock table schema_migrations in access exclusive mode`
  let answered = false
  const waiting = core.readiness.untilAnswered().then(() => (answered = true))
  await until('no answer', () => core.readiness.current().reasons.includes('the database does not respond'))
  t.notOk(answered)
  await lock`rollback`
  lock.release()
  await waiting
  t.ok(core.readiness.current().ready)
})
