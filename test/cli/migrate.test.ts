import t from 'tap'
import { nameMigrationsBefore } from '../helpers/before-baseline.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { examined, foundBy } from './doctor.ts'
import { postrider } from './postrider.ts'

const LAST = '0091_versions.sql'

t.test('with MIGRATE=manual, processes and commands wait until migrate has been run', async (t) => {
  const service = await makeService(t)
  const env = { ...service.env, MIGRATE: 'manual' }
  await service.sql`drop table schema_backfills, schema_minimum`
  await service.sql`delete from schema_migrations where name = ${LAST}`
  const pending = async () => (await service.sql`select 1 from schema_migrations where name = ${LAST}`).length === 0

  const refused = await postrider(env, 'account', 'list')
  t.equal(refused.code, 1)
  t.match(refused.stderr, `migrations not applied: ${LAST}; run "npm run postrider -- migrate"`)

  let started = false
  const worker = startProcess(t, 'delivery', env).finally(() => (started = true))
  const isWaiting = async () =>
    (
      await service.sql`select 1 from pg_stat_activity
      where datname = current_database() and application_name like 'postrider delivery %' and query ~ 'schema_migrations'`
    ).length > 0
  const lookedAt = async () =>
    String(
      (
        await service.sql`select max(query_start)::text as at from pg_stat_activity
      where datname = current_database() and application_name like 'postrider delivery %'`
      )[0]?.at,
    )
  await until('the worker to look for migrations', isWaiting)
  const looks = new Set<string>()
  await until('it to look again', async () => looks.add(await lookedAt()).size > 3)
  t.notOk(started)
  t.ok(await pending(), 'neither has applied it')

  t.equal((await postrider(env, 'migrate')).code, 0)
  t.notOk(await pending())
  const running = await worker
  const waits = running.log.filter(({ msg }) => String(msg).startsWith('waiting for migrations'))
  t.match(waits, [{ pending: [LAST], msg: 'waiting for migrations; run "npm run postrider -- migrate"' }])
  t.equal(waits.length, 1)
  t.equal(await running.stop(), 0)
  t.equal((await postrider(env, 'account', 'list')).code, 0)
})

t.test(
  'with MIGRATE=manual, a command on an empty database says that it is empty, without a list of migrations',
  async (t) => {
    const service = await makeService(t)
    await service.sql.unsafe('drop schema public cascade; create schema public')
    const { code, stderr } = await postrider({ ...service.env, MIGRATE: 'manual' }, 'account', 'list')
    t.equal(code, 1)
    t.match(
      stderr,
      /^postrider: the database is empty \(\d\d+ migrations are to be applied\); run "npm run postrider -- migrate"\n$/,
    )
  },
)

t.test('by default, the first process applies them', async (t) => {
  const service = await makeService(t)
  await service.sql`drop table schema_backfills, schema_minimum`
  await service.sql`delete from schema_migrations where name = ${LAST}`
  const worker = await startProcess(t, 'delivery', service.env)
  t.equal((await service.sql`select to_regclass('schema_backfills') as found`)[0]?.found, 'schema_backfills')
  t.equal(await worker.stop(), 0)
})

t.test('a database with the 91 migrations from before the baseline is used as it is', async (t) => {
  const service = await makeService(t)
  await nameMigrationsBefore(service.sql, 91)
  const names = () => service.sql`select name from schema_migrations order by name`
  const before = await names()
  const worker = await startProcess(t, 'delivery', service.env)
  t.equal(await worker.stop(), 0)
  t.equal(
    (await postrider(service.env, 'upgrade', '--check')).stdout,
    'This version changes nothing in the database.\n',
  )
  t.strictSame(await names(), before)
})

t.test('a database that lacks some of them is refused, with the version to pass through', async (t) => {
  const service = await makeService(t)
  await nameMigrationsBefore(service.sql, 57)
  const reason =
    /the database has 57 of the 91 migrations from before the baseline, .* check out commit ce6262ae, run "npm run setup" and/
  for (const MIGRATE of ['auto', 'manual']) {
    const env = { ...service.env, MIGRATE }
    // 78: the supervisor does not start it again.
    await t.rejects(startProcess(t, 'delivery', env), { message: new RegExp(`ended with 78 .*${reason.source}`, 's') })
    for (const words of [['migrate'], ['account', 'list'], ['upgrade', '--check']]) {
      const { code, stderr } = await postrider(env, ...words)
      t.equal(code, 1)
      t.match(stderr, reason)
    }
  }
  t.match(
    foundBy(await examined(service.env), 'migrations'),
    /^bad: the database has 57 of the 91 .* all of them; fix: check out commit ce6262ae,/,
  )
  t.match(await service.core.readiness.check(), { ready: false, reasons: [reason] })
  t.match(await service.sql`select count(*)::int as names from schema_migrations`, [{ names: 57 }])
})
