import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate, pendingMigrations, type Sql } from '@postrider/core'
import t from 'tap'
import { makeEmptyDatabase } from './empty-database.ts'

const FOLDER = fileURLToPath(new URL('../../../../sql', import.meta.url))
const ALL_FILES = readdirSync(FOLDER)
  // schema.sql is written from the migrated database and never applied.
  .filter((name) => name.endsWith('.sql') && name !== 'schema.sql')
  .sort()
/** Those that migrate applies: backfills, indexes and removals follow while processes work (later-migrations.test.ts). */
const FILES = ALL_FILES.filter(
  (name) => !/^-- (backfill|index|contract)/.test(readFileSync(join(FOLDER, name), 'utf8')),
)

t.test('migrate applies every file of sql/ once, in order, and nothing the second time', async (t) => {
  const sql = (await makeEmptyDatabase(t)).open()
  t.strictSame(await pendingMigrations(sql), FILES)
  t.strictSame(await migrate(sql), FILES)
  t.strictSame(await pendingMigrations(sql), [])
  t.strictSame(await migrate(sql), [])
  const rows = await sql`select name from schema_migrations order by applied_at, name`
  t.strictSame(
    rows.map(({ name }) => name),
    FILES,
  )
})

t.test('every migration has a number of its own, without gaps in the baseline and after it', async (t) => {
  const numbers = ALL_FILES.map((name) => Number(name.slice(0, 4)))
  // The last file of the baseline has the number of the last migration that it replaced.
  const last = numbers.indexOf(91)
  t.strictSame(
    numbers,
    numbers.map((_number, at) => (at < last ? at + 1 : 91 + at - last)),
  )
  for (const name of ALL_FILES) t.match(name, /^\d{4}_[a-z_]+\.sql$/, 'migrate reads files of this form only')
})

t.test('of ten processes that migrate at once each file is applied by one, and none fails', async (t) => {
  const database = await makeEmptyDatabase(t)
  const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(database.open(1))))
  t.strictSame(applied.flat().sort(), FILES)
})

t.test(
  'migrate refuses a database whose applied migration is not the file any longer, and changes nothing',
  async (t) => {
    const sql = (await makeEmptyDatabase(t)).open()
    await migrate(sql)
    await sql`update schema_migrations set digest = 'of another text' where name = '0004_domains.sql'`
    await sql`delete from schema_migrations where name = ${FILES.at(-1) as string}`
    await t.rejects(migrate(sql), { message: /^sql\/0004_domains\.sql was changed after it was applied/ })
    t.strictSame(await pendingMigrations(sql), FILES.slice(-1))
  },
)

t.test(
  'a migration that fails is rolled back whole and named, and after the correction migrate goes on from there',
  async (t) => {
    const sql = (await makeEmptyDatabase(t)).open()
    await sql`create table api_keys (in_the_way text)`
    await t.rejects(migrate(sql), { message: /^sql\/0002_accounts\.sql: .*api_keys.* already exists/ })
    t.strictSame(await pendingMigrations(sql), FILES.slice(1))
    const [left] = await sql`select to_regclass('accounts') as accounts`
    t.equal(left?.accounts, null, 'what the same file made before is gone')
    await sql`drop table api_keys`
    t.strictSame(await migrate(sql), FILES.slice(1))
  },
)

t.test('a migration that waits for a lock gives up after some seconds, so that nothing waits behind it', async (t) => {
  const database = await makeEmptyDatabase(t)
  const other = database.open(1)
  await makeMigrationsTable(other)
  await other.begin(async (transaction) => {
    await transaction`lock table schema_migrations in share mode`
    await t.rejects(migrate(database.open()), { message: /^sql\/0001_.*lock timeout/ })
  })
  t.strictSame(await migrate(database.open()), FILES)
})

t.test('a process killed while it migrates leaves the next one free to do so', async (t) => {
  const database = await makeEmptyDatabase(t)
  const admin = database.open(1)
  const dying = database.open(1)
  await makeMigrationsTable(dying)
  await admin.begin(async (transaction) => {
    await transaction`lock table schema_migrations in share mode`
    const failed = migrate(dying).catch((error: unknown) => error)
    await transaction`select pg_sleep(0.3)`
    await transaction`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    t.ok((await failed) instanceof Error)
  })
  t.strictSame(await migrate(database.open(1)), FILES)
})

async function makeMigrationsTable(sql: Sql): Promise<void> {
  await sql`
    create table schema_migrations (
      name text primary key, digest text not null, applied_at timestamptz not null default now())`
}
