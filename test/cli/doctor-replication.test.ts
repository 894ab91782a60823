import { appendFileSync, chmodSync, cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { until } from '../helpers/until.ts'
import { examined, foundBy } from './doctor.ts'
import { postrider } from './postrider.ts'

const ACCEPTS_NO_MAIL = /^postrider: no synchronous standby is connected, so the service accepts no mail/
const READS_ONLY = /^postrider: no synchronous standby is connected, and commits wait for one, so this command can read/
const NOTHING_CHANGED =
  /nothing was changed: .*set synchronous_standby_names = '' on this server \(and REQUIRE_SYNC_STANDBY=0\) until one is/

t.test('archives and standbys, and a database that is one, are seen for what they are', async (t) => {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'replication-'))
  const [first, second] = [join(folder, 'first'), join(folder, 'second')] as const
  t.equal((await postrider({ DATA_DIR: first }, 'setup')).code, 0)
  cpSync(first, second, { recursive: true })
  chmodSync(join(second, 'postgres'), 0o700)
  const WITH_STANDBY = { DATA_DIR: first, REQUIRE_SYNC_STANDBY: '1' }
  const settings = ['archive_mode=on', 'archive_command=false', 'autovacuum=off']
  const primary = await startEmbeddedPostgres({ dataDir: first, settings })
  const sql = openDatabase({ url: primary.url, name: 'test', connections: 1 })
  t.teardown(async () => {
    await sql.end()
    await primary.stop()
  })
  const { port, username, password } = new URL(primary.url)
  writeFileSync(join(second, 'postgres', 'standby.signal'), '')
  appendFileSync(
    join(second, 'postgres', 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=standby1'\n`,
  )
  const standby = await startEmbeddedPostgres({ dataDir: second })
  let isRunning = true
  const stop = async () => {
    if (isRunning) await standby.stop()
    isRunning = false
  }
  t.teardown(stop)
  await until(
    'the standby',
    async () => (await sql`select from pg_stat_replication where state = 'streaming'`).length > 0,
  )

  await t.test('an asynchronous standby, an archive that is empty, and autovacuum that is off', async (t) => {
    const [apiPort = 0] = await freePorts(1)
    const diagnosis = await examined({ DATA_DIR: first, API_PORT: String(apiPort) })
    t.match(
      foundBy(diagnosis, 'standbys'),
      /^warn: none of 1 standby is synchronous, .*; fix: ALTER SYSTEM SET synchronous_standby_names/,
    )
    t.match(foundBy(diagnosis, 'replication lag'), /^ok: the standby that is furthest behind lacks \d+ MB/)
    t.match(foundBy(diagnosis, 'WAL archive'), /^warn: nothing has been archived yet/)
    t.match(foundBy(diagnosis, 'autovacuum'), /^bad: autovacuum off, .*; fix: ALTER SYSTEM SET autovacuum = on;/)
    t.match(foundBy(diagnosis, 'disk'), /^\w+: the database has \d+ MB, and .* are free on the disk of DATA_DIR/)
    t.match(foundBy(diagnosis, 'api'), /^bad: no response at/, 'the database is all that runs')
    const listed = await postrider(WITH_STANDBY, 'account', 'list')
    t.match(listed, { code: 0, stderr: ACCEPTS_NO_MAIL })
  })

  await t.test('a read replica that lags, and URLs that lead to none', async (t) => {
    const found = async (url: string) =>
      foundBy(
        await examined({ DATA_DIR: first, DATABASE_READ_URL: url, DATABASE_READ_MAX_LAG: '3600' }),
        'read replica',
      )
    await sql`select pg_logical_emit_message(true, 'test', '')`
    await until(
      'its replay',
      async () =>
        (await sql`select from pg_stat_replication where replay_lsn >= pg_current_wal_flush_lsn()`).length > 0,
    )
    t.match(await found(standby.url), /^ok: its last commit is \d+ s old/)
    t.match(await found(primary.url), /^bad: DATABASE_READ_URL leads to a server that accepts writes/)
    t.match(await found(standby.url.replace('/postgres', '/template1')), /^bad: .* a standby of another database/)
    t.match(await found('postgres://127.0.0.1:1/postgres'), /^bad: the standby of DATABASE_READ_URL cannot be read/)
  })

  await t.test('a role that may not see standbys', async (t) => {
    await sql.unsafe("create role plain login password 'plain'")
    const url = primary.url.replace(`${username}:${password}`, 'plain:plain')
    const readUrl = url.replace(`:${port}/`, `:${new URL(standby.url).port}/`)
    const diagnosis = await examined({
      DATA_DIR: first,
      DATABASE_URL: url,
      DATABASE_READ_URL: readUrl,
      DATABASE_READ_MAX_LAG: '3600',
    })
    t.match(foundBy(diagnosis, 'read replica'), /^ok/)
    t.match(foundBy(diagnosis, 'standbys'), /^not checked: .* GRANT pg_read_all_stats/)
    t.match(foundBy(diagnosis, 'sending domains'), /^bad: could not be checked: permission denied/)
    t.match(foundBy(diagnosis, 'version'), /^ok/)
  })

  await t.test('the standby itself stores no mail', async (t) => {
    const diagnosis = await examined({ DATA_DIR: second })
    t.match(foundBy(diagnosis, 'primary'), /^bad: this server is a standby, .*; fix: set DATABASE_URL to the primary/)
    t.match(foundBy(diagnosis, 'standbys'), 'not checked: only the primary knows them')
    t.match(foundBy(diagnosis, 'worker leases'), /^not checked: the database is a standby: /)
    t.match(foundBy(diagnosis, 'sending domains'), /^ok: 1 active/)
    t.match(await postrider({ DATA_DIR: second }, 'restored', '--to', '2026-11-24T08:00:00Z'), {
      code: 1,
      stderr: /still recovering, or is a standby; repeat this when it accepts writes/,
    })
  })

  await t.test('with the primary gone, the standby that responds is named', async (t) => {
    const [gone] = await freePorts(1)
    const hosts = `127.0.0.1:${gone},127.0.0.1:${new URL(standby.url).port}`
    const url = `postgres://${username}:${password}@${hosts}/postgres?target_session_attrs=primary`
    const env = { DATA_DIR: first, DATABASE_URL: url }
    t.match(
      foundBy(await examined(env), 'connection'),
      /^bad: no primary responds; 127\.0\.0\.1 responds, but is a standby; fix: if the primary is lost, promote .*#failover/,
    )
    t.match((await postrider(env, 'queue')).stderr, /127\.0\.0\.1 responds, but is a standby: if the primary is lost/)
    const pool = openDatabase({ url, name: 'test', connections: 1 })
    const core = createCore({ sql: pool, config: readConfig(env), log: createLog('test', 'silent') })
    t.teardown(() => core.close())
    const { readiness } = core
    await until('it says so', async () => (await readiness.check()).reasons.join().includes('but is a standby'))
  })

  await t.test(
    'one standby where commits wait for two is too few: for mail, for commands and for doctor',
    async (t) => {
      await sql`alter system set synchronous_standby_names = 'ANY 2 (*)'`
      await sql`select pg_reload_conf()`
      await until(
        'it is synchronous',
        async () => (await sql`select from pg_stat_replication where sync_state = 'quorum'`).length > 0,
      )
      const pool = openDatabase({ url: primary.url, name: 'test', connections: 1 })
      const core = createCore({ sql: pool, config: readConfig(WITH_STANDBY), log: createLog('test', 'silent') })
      t.teardown(() => core.close())
      const { ready, reasons } = await core.readiness.check()
      t.equal(ready, false)
      t.match(
        reasons.join(),
        /^only 1 of the 2 synchronous standbys that commits wait for is connected, so mail cannot/,
      )
      t.match(
        foundBy(await examined({ DATA_DIR: first }), 'standbys'),
        /^bad: .*"ANY 2 \(\*\)", but only 1 of the 2 .*: commits wait, and no mail is accepted; fix: .*'ANY 1 \(\*\)'/,
      )
      t.match(await postrider({ DATA_DIR: first }, 'queue'), {
        code: 0,
        stderr:
          /^postrider: only 1 of the 2 .* is connected, and commits wait for another one, so this command can read/,
      })
      t.match(await postrider({ DATA_DIR: first }, 'queue', 'pause', 'google', '--reason', 'trial'), {
        code: 1,
        stderr: /until another synchronous standby is connected .*nothing was changed: .*set .* = 'ANY 1 \(\*\)' on/,
      })
      for (const [names, needed] of [
        ['ANY 1 (*)', true],
        ['*', true],
        ['standby1, standby2', true],
        ['first 2 (standby1, standby2)', false],
        ['2(standby1,standby2)', false],
        ['"2 (x", standby1', true],
      ] as const) {
        await sql.unsafe(`alter system set synchronous_standby_names = '${names}'`)
        await sql`select pg_reload_conf()`
        await until(`to be ${needed ? '' : 'not '}ready: ${names}`, async () => {
          const [row] = await pool`select current_setting('synchronous_standby_names') as names`
          return row?.names === names && (await core.readiness.check()).ready === needed
        })
      }
    },
  )

  await t.test('a synchronous standby, an archive that fails, and the standby lost', async (t) => {
    await sql`alter system set synchronous_standby_names = 'ANY 1 (*)'`
    await sql`select pg_reload_conf()`
    await until(
      'it is synchronous',
      async () => (await sql`select from pg_stat_replication where sync_state = 'quorum'`).length > 0,
    )
    await sql`select pg_switch_wal()`
    await until('a failure', async () => (await sql`select from pg_stat_archiver where failed_count > 0`).length > 0)
    const diagnosis = await examined({ DATA_DIR: first })
    t.equal(foundBy(diagnosis, 'standbys'), 'ok: standby1 (quorum)')
    t.strictSame((await postrider(WITH_STANDBY, 'account', 'list')).stderr, '')
    t.match(foundBy(diagnosis, 'WAL archive'), /^bad: archiving has failed since .*; fix: run archive_command by hand/)
    await stop()
    await until('it is gone', async () => (await sql`select from pg_stat_replication`).length === 0)
    t.match(
      foundBy(await examined({ DATA_DIR: first }), 'standbys'),
      /^bad: .*"ANY 1 \(\*\)", but no such standby is connected/,
    )
  })

  await t.test('while commits wait for a standby, commands read, and refuse what would hang', async (t) => {
    for (const command of ['queue', 'message list', 'user list'])
      t.match(await postrider({ DATA_DIR: first }, ...command.split(' ')), { code: 0, stderr: READS_ONLY }, command)
    for (const command of [
      'queue pause google --reason trial',
      'key revoke 1 --yes',
      'restored --to 2026-11-24T08:00:00Z',
    ])
      t.match(await postrider(WITH_STANDBY, ...command.split(' ')), { code: 1, stderr: NOTHING_CHANGED }, command)
    t.equal((await sql`select from audit_log where action in ('queue.pause', 'key.revoke')`).length, 0)
  })

  await t.test('without synchronous_standby_names they change things again, and only mail is refused', async (t) => {
    await sql`alter system set synchronous_standby_names = ''`
    await sql`select pg_reload_conf()`
    await until('it', async () => (await sql`show synchronous_standby_names`)[0]?.synchronous_standby_names === '')
    t.match(await postrider(WITH_STANDBY, 'queue', 'pause', 'google', '--reason', 'trial'), {
      code: 0,
      stderr: ACCEPTS_NO_MAIL,
    })
    const standbys = async (env: Record<string, string>) => foundBy(await examined(env), 'standbys')
    t.equal(await standbys({ DATA_DIR: first }), 'ok: there are none; accepted mail is on one server')
    t.match(await standbys(WITH_STANDBY), /^bad: there are none, .*; fix: .*set REQUIRE_SYNC_STANDBY=0 and restart/)
  })

  await t.test('of two hosts that both accept writes, the one that was promoted last is named', async (t) => {
    const promoted = await startEmbeddedPostgres({ dataDir: second })
    const other = openDatabase({ url: promoted.url, name: 'test', connections: 1 })
    t.teardown(async () => {
      await other.end()
      await promoted.stop()
    })
    const latest = `127.0.0.1:${new URL(promoted.url).port}`
    const url = `postgres://${username}:${password}@127.0.0.1:${port},${latest}/postgres`
    const found = async (attributes: string) =>
      foundBy(await examined({ DATA_DIR: first, DATABASE_URL: `${url}${attributes}` }), 'primary')
    t.equal(await found('?target_session_attrs=primary'), 'ok: this server accepts writes')
    t.match(
      await found(''),
      /^warn: .* without target_session_attrs=primary, .*; fix: add target_session_attrs=primary/,
    )
    await other`select pg_promote()`
    t.match(
      await found('?target_session_attrs=primary'),
      new RegExp(
        `^bad: several hosts .*: ${latest}, 127.*; fix: stop all now but .* last \\(${latest}\\), .*#failover`,
      ),
    )
  })
})
