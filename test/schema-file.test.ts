import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeWholeDatabase } from './helpers/database.ts'
import { SCHEMA_FILE, schemaOf, WRITTEN_BY } from './helpers/schema-file.ts'

const database = await makeWholeDatabase()
t.teardown(() => database.drop())
const { sql } = database
const [version] = await sql<{ major: number }[]>`
  select current_setting('server_version_num')::int / 10000 as major`

// Another version prints some definitions in other words.
const skip = version?.major === WRITTEN_BY ? false : `the file is written by Postgres ${WRITTEN_BY}`

t.test('sql/schema.sql is the schema after all migrations', { skip }, async (t) => {
  t.equal(readFileSync(SCHEMA_FILE, 'utf8'), await schemaOf(sql), 'run npm run docs')
})

t.test('the file changes with a column, constraint, index, function, trigger or setting', async (t) => {
  const before = await schemaOf(sql)
  const changes = [
    'alter table accounts add column berth text',
    'alter table accounts add constraint berth check (id > 0)',
    'create index berth on messages (account_id)',
    'create function berth() returns int language sql as $$ select 1 $$',
    'create trigger berth before update on accounts execute function refuse_change()',
    'alter table accounts set (fillfactor = 90)',
    'alter table accounts alter column name set storage external',
    'alter table accounts alter column name type text collate "C"',
    'create sequence berth_numbers',
    'create view berths as select 1 as berth',
  ]
  for (const change of changes) {
    await sql
      .begin(async (transaction) => {
        await transaction.unsafe(change)
        t.not(await schemaOf(transaction as unknown as typeof sql), before, change)
        await transaction.unsafe(`select 1`)
        throw new Error('undone')
      })
      .catch((error: Error) => t.equal(error.message, 'undone'))
  }
  t.equal(await schemaOf(sql), before)
})

t.test('a comment before each table says what a row is', async (t) => {
  const files = globSync(fileURLToPath(new URL('../sql/[0-9]*.sql', import.meta.url)))
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n')
  const commented = new Set([...text.matchAll(/^--.*\ncreate (?:unlogged )?table (\w+)/gm)].map(([, name]) => name))
  const tables = [...readFileSync(SCHEMA_FILE, 'utf8').matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(
    ([, name]) => name,
  )
  t.ok(tables.length > 40)
  // The table of the applied files is made by migrate.
  t.strictSame(
    tables.filter((name) => !commented.has(name)),
    ['schema_migrations'],
  )
})
