import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from '../../packages/cli/src/start-postgres.ts'
import { readDatabaseHealth } from '../../packages/core/src/platform/database/database-health.ts'
import { claimDue } from '../helpers/claim.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { examined, foundBy } from './doctor.ts'
import { onDatabase } from './embedded-database.ts'
import { answered, postrider } from './postrider.ts'

const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? '/tmp', 'backup-'))
const env = { DATA_DIR: join(folder, 'data'), BACKUP_DIR: join(folder, 'backups') }
const restored = (name: string) => ({ DATA_DIR: join(folder, name) })
let between = ''

t.test('a backup is whole, and what follows it is archived', async (t) => {
  await postrider(env, 'migrate')
  const { name } = await answered<{ name: string }>(env, 'backup', env.BACKUP_DIR, '--with-secret')
  t.strictSame(readdirSync(join(env.BACKUP_DIR, 'base')), [`${name}.json`])
  await answered(env, 'account', 'create', '--name', 'before')
  between = await onDatabase(env, async (sql) => {
    const { archiveAge } = await readDatabaseHealth(sql)
    t.ok(archiveAge !== null && archiveAge >= 0 && archiveAge < 600, `archived ${archiveAge} s ago`)
    await sql`insert into event_pages (account_id, first_number, count, week, after_transaction, to_transaction)
              values (1, 1, 7, now(), '1', '2')`
    await sql`insert into delivery_queue (message_id, recipient_no, account_id, kind, recipient, recipient_key, recipient_domain, state, next_at, expires_at)
              values (gen_random_uuid(), 0, 1, 'to', 'ann@harbor.example', '\\x00', 'harbor.example', 'queued', now(), now() + interval '1 minute')`
    // Moments are in milliseconds.
    await sql`select pg_sleep(0.01)`
    const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now, pg_sleep(0.1)`
    await sql`update delivery_queue set state = 'deferred'`
    return row.now.toISOString()
  })
  await answered(env, 'account', 'create', '--name', 'after')
})

t.test('the state at a moment is restored: its mail is held for a day at least, and a new epoch begins', async (t) => {
  const then = restored('then')
  const answer = await answered<{ held: number; epoch: number; hasSecretKey: boolean }>(
    env,
    'restore',
    env.BACKUP_DIR,
    '--into',
    then.DATA_DIR,
    '--to-time',
    between,
  )
  t.match(answer, { held: 1, epoch: 2, hasSecretKey: true })
  const accounts = await answered<{ name: string }[]>(then, 'account', 'list')
  t.strictSame(
    accounts.map(({ name }) => name),
    ['before'],
  )
  await onDatabase(then, async (sql) => {
    const [row] = await sql`
      select state, waiting_for, next_at = expires_at as "isDueAtEnd", expires_at > now() + interval '23 hours' as "isLater"
        from delivery_queue`
    t.match(row, { state: 'queued', waiting_for: 'hold', isDueAtEnd: true, isLater: true })
    t.match(await sql`select epoch, last_number::int as last from event_epoch_starts`, [{ epoch: 2, last: 7 }])
  })
})

t.test('the latest state is restored if no moment is named', async (t) => {
  const latest = restored('latest')
  await answered(env, 'restore', env.BACKUP_DIR, '--into', latest.DATA_DIR)
  const accounts = await answered<{ name: string }[]>(latest, 'account', 'list')
  t.strictSame(
    accounts.map(({ name }) => name),
    ['before', 'after'],
  )
  const { code, stderr } = await postrider({ ...latest, BACKUP_DIR: env.BACKUP_DIR }, 'account', 'list')
  t.equal(code, 1)
  t.match(stderr, 'has the backups of another database', 'the copy does not write to the backups of the original')
})

t.test('a database that other tools restored to a moment is not used until its queue is held', async (t) => {
  const { DATA_DIR } = restored('latest')
  const target = '2026-11-24 08:00:00+00'
  const server = await startEmbeddedPostgres({ dataDir: DATA_DIR, settings: [`recovery_target_time=${target}`] })
  const sql = openDatabase({ url: server.url, name: 'test', connections: 1 })
  t.teardown(async () => {
    await sql.end()
    await server.stop()
  })
  const there = { DATA_DIR, DATABASE_URL: server.url }
  const refused = async (...command: string[]) => (await postrider(there, ...command)).stderr
  t.match(await refused('account', 'list'), `earlier moment (recovery_target_time = ${target}), and the mail`)
  t.match(foundBy(await examined(there), 'restore'), /^bad: the server was restored .*; fix: postrider restored$/)

  const { core, worker } = await workOn(t, there)
  await sql`update delivery_queue set next_at = now(), waiting_for = null`
  await sql`insert into events (occurred_at, account_id, type) values (now(), 1, 'domain')`
  t.equal((await claimDue(core, { ...worker, limit: 10 })).length, 0, 'nor by a worker that was running all the time')
  t.equal((await core.events.sequence()).count, 0)
  t.match(await refused('restored'), 'delivery processes work on this database: mx1 (pid 17); stop them first')
  await worker.release()

  t.match(await answered(there, 'restored'), { restoredTo: '2026-11-24T08:00:00.000Z', held: 1, epoch: 3 })
  t.equal(await numberEvents({ core, sql }), 1)
  t.equal((await postrider(there, 'account', 'list')).code, 0)
  t.match(foundBy(await examined(there), 'restore'), /^ok: /)
  t.match(await refused('restored'), 'no restore is left to be marked')
  t.match(await answered(there, 'restored', '--to', '2026-11-24T09:00:00Z'), { held: 1, epoch: 4 })
})

/** A worker whose processes were not stopped when the server was replaced. */
async function workOn(t: Test, env: NodeJS.ProcessEnv) {
  const config = readConfig(env)
  const pool = openDatabase({ url: config.databaseUrl as string, name: 'test', connections: 2 })
  const core = createCore({ sql: pool, config, log: createLog('test', 'silent') })
  const worker = await core.deliveries.register({ host: 'mx1', pid: 17 })
  t.teardown(async () => {
    core.readiness.close()
    await worker.abandon()
    await pool.end({ timeout: 1 })
  })
  return { core, worker }
}

t.test('neither a folder with files nor a moment outside of the backups is accepted', async (t) => {
  const refused = async (into: string, ...more: string[]) =>
    (await postrider(env, 'restore', env.BACKUP_DIR, '--into', join(folder, into), ...more)).stderr
  t.match(await refused('data'), 'is not empty')
  t.match(await refused('new', '--to-time', '2020-01-01'), 'the earliest moment that can be restored is')
  t.match(await refused('new', '--to-time', '2999-01-01'), 'the backups have changes only up to')
  t.notOk(readdirSync(folder).includes('new'), 'nothing is left')
  t.match((await postrider(env, 'backup', folder)).stderr, 'is not empty and has no backups')
})

t.test('verify restores and reads everything, and finds missing changes and damaged files', async (t) => {
  const { counts, problems } = await answered<{ counts: unknown; problems: string[] }>(
    env,
    'backup',
    'verify',
    env.BACKUP_DIR,
  )
  t.match(counts, { accounts: 2, queued: 1 })
  t.strictSame(problems, [])
  const pieces = join(env.BACKUP_DIR, 'pieces')
  const [name = ''] = readdirSync(pieces)
  writeFileSync(join(pieces, name, '00000002.gz'), gzipSync('exchanged'))
  const { code, stderr } = await postrider(env, 'backup', 'verify', env.BACKUP_DIR)
  t.equal(code, 1)
  t.match(stderr, /is damaged in the base backup .*: this base backup cannot be restored\. Take a new one/)
})

t.teardown(() => rmSync(folder, { recursive: true, force: true }))
