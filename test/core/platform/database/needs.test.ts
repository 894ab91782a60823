import { createCore, createLog, migrate, openDatabase, readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import {
  DatabaseUnfit,
  readDatabaseFacts,
  requireFitDatabase,
} from '../../../../packages/core/src/platform/database/needs.ts'
import { ensurePartitions } from '../../../../packages/core/src/platform/database/partitions.ts'
import { makeEmptyDatabase, type TestDatabase } from '../../../helpers/database.ts'
import { makeService } from '../../../helpers/service.ts'

const server = process.env.TEST_DATABASE_URL as string
/** What an ordinary role may not do is tried by a superuser only. */
const skip = !(await isSuperuser()) && 'needs a superuser'

async function isSuperuser(): Promise<boolean> {
  const sql = openDatabase({ url: server, name: 'test', connections: 1 })
  const rows = await sql`select from pg_roles where rolname = current_user and rolsuper`
  await sql.end()
  return rows.length > 0
}

/** A database without a schema, made like this. */
async function makeDatabaseWith(t: Test, options: string): Promise<string> {
  const admin = openDatabase({ url: server, name: 'test', connections: 1 })
  const name = `test_needs_${Math.random().toString(36).slice(2)}`
  await admin.unsafe(`create database ${name} ${options}`)
  t.teardown(async () => {
    await admin.unsafe(`drop database if exists ${name} with (force)`)
    await admin.end()
  })
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function open(t: Test, url: string) {
  const sql = openDatabase({ url, name: 'test', connections: 2 })
  t.teardown(() => sql.end({ timeout: 1 }))
  return sql
}

async function refusalOf(t: Test, url: string, toMigrate = true): Promise<string> {
  const error = await requireFitDatabase(open(t, url), { toMigrate }).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof DatabaseUnfit)) throw error ?? new Error('it is fit')
  return error.message
}

for (const encoding of ['LATIN1', 'SQL_ASCII']) {
  t.test(`a database with the encoding ${encoding} is refused, with what to do`, async (t) => {
    const url = await makeDatabaseWith(t, `encoding '${encoding}' locale 'C' template template0`)
    t.match(
      await refusalOf(t, url),
      new RegExp(`the database has the encoding ${encoding}.*: CREATE DATABASE .* ENCODING 'UTF8' TEMPLATE template0`),
    )
    t.strictSame([...(await open(t, url)`select from pg_tables where schemaname = 'public'`)], [], 'nothing was made')
  })
}

const SETTINGS: Readonly<Record<string, string>> = {
  bytea_output: 'escape',
  datestyle: 'SQL, DMY',
  intervalstyle: 'iso_8601',
  timezone: 'America/St_Johns',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  default_transaction_isolation: 'serializable',
  lock_timeout: '1ms',
  idle_session_timeout: '50ms',
  client_encoding: 'LATIN1',
}

t.test('whatever a database sets for its sessions, those of the service mean the same', async (t) => {
  const service = await makeService(t)
  const name = new URL(service.env.DATABASE_URL as string).pathname.slice(1)
  const before = { ...(await settingsOf(service.sql)) }
  for (const [setting, value] of Object.entries(SETTINGS))
    await service.sql.unsafe(`alter database ${name} set ${setting} = '${value}'`)
  const sql = open(t, service.env.DATABASE_URL as string)
  t.strictSame({ ...(await settingsOf(sql)) }, before)
  const octets = Buffer.from([0, 92, 255])
  t.strictSame(
    [
      ...(await sql`select ${octets}::bytea as octets, array[null, 'null'] as list, '2026-02-01 10:00Z'::timestamptz as at`),
    ],
    [{ octets, list: [null, 'null'], at: new Date('2026-02-01T10:00:00Z') }],
  )
  t.strictSame((await readDatabaseFacts(sql)).wrong, [])
})

async function settingsOf(sql: TestDatabase['sql']): Promise<object> {
  const names = Object.keys(SETTINGS)
  const [row] = await sql`
    select json_object_agg(name, current_setting(name) order by name) as settings from unnest(${names}::text[]) as name`
  return (row as { settings: object }).settings
}

t.test(
  'a session that does not have the settings, as behind a pooler, is refused with the statement that sets them',
  async (t) => {
    const { url, drop } = await makeEmptyDatabase()
    t.teardown(drop)
    // What the URL says overrides what the service sets.
    const refusal = await refusalOf(t, `${url}?bytea_output=escape&array_nulls=off`)
    t.match(refusal, /sessions have bytea_output = escape and array_nulls = off, and mail could be damaged/)
    t.match(refusal, /ALTER ROLE \S+ SET bytea_output = 'hex'; ALTER ROLE \S+ SET array_nulls = 'on'/)
    if (!skip) t.match(await refusalOf(t, `${url}?session_replication_role=replica`), /RESET session_replication_role/)
  },
)

t.test('a database that has become read-only makes a core not ready, with the reason, until it is reset', async (t) => {
  const service = await makeService(t)
  const url = service.env.DATABASE_URL as string
  const name = new URL(url).pathname.slice(1)
  const ready = async () => {
    const core = createCore({ sql: open(t, url), config: readConfig(service.env), log: createLog('test', 'silent') })
    const state = await core.readiness.check()
    core.readiness.close()
    return state
  }
  await service.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
  const { ready: isReady, reasons } = await ready()
  t.equal(isReady, false)
  t.match(reasons.join(), /read-only \(default_transaction_read_only = on\).*ALTER DATABASE DATABASE RESET/)
  t.notMatch(reasons.join(), name, 'without names: anyone may ask')
  const error = await requireFitDatabase(open(t, url), { toMigrate: true }).catch((error: unknown) => error)
  t.match(error, { isPassing: true, message: `ALTER DATABASE ${name} RESET` })
  await service.sql.unsafe(`alter database ${name} reset default_transaction_read_only`)
  t.match(await ready(), { ready: true })
  const own = openDatabase({ url, name: 'test', connections: 1, readOnly: true })
  t.teardown(() => own.end())
  t.equal((await readDatabaseFacts(own)).isReadOnly, false, 'one that a command wants so is not reported')
})

t.test(
  'a role without CREATE on the schema, or without a schema, is refused before anything is made',
  { skip },
  async (t) => {
    const url = await makeDatabaseWith(t, 'template template0')
    const admin = open(t, url)
    const role = `test_needs_${Math.random().toString(36).slice(2)}`
    await admin.unsafe(`create role ${role} login password 'x'`)
    t.teardown(() => admin.unsafe(`drop role ${role}`))
    const own = new URL(url)
    own.username = role
    own.password = 'x'
    t.match(await refusalOf(t, own.href), `GRANT CREATE, USAGE ON SCHEMA public TO ${role}`)
    t.match(await refusalOf(t, `${own.href}?search_path=missing`), 'search_path names no schema that exists')
    await requireFitDatabase(open(t, own.href), { toMigrate: false })
  },
)

t.test(
  'a role that acts as the owner, as docs/postgres.md has it, migrates, and owns nothing itself',
  { skip },
  async (t) => {
    const url = await makeDatabaseWith(t, 'template template0')
    const admin = open(t, url)
    const [owner, member] = ['owner', 'member'].map(
      (name) => `test_needs_${name}_${Math.random().toString(36).slice(2)}`,
    )
    await admin.unsafe(`
    create role ${owner} nologin;
    grant create, usage on schema public to ${owner};
    create role ${member} login password 'x';
    grant ${owner} to ${member};
    alter role ${member} set role = '${owner}'`)
    t.teardown(() => admin.unsafe(`drop owned by ${owner}; drop role ${member}; drop role ${owner}`))
    const own = new URL(url)
    own.username = member as string
    own.password = 'x'
    const sql = open(t, own.href)
    await requireFitDatabase(sql, { toMigrate: true })
    await migrate(sql)
    t.ok((await ensurePartitions(sql)) >= 0)
    t.strictSame(
      [...(await admin`select distinct tableowner as owner from pg_tables where schemaname = 'public'`)],
      [{ owner }],
    )
  },
)
