import { readFileSync } from 'node:fs'
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

t.test('sql/README.md says what every table is, and which columns have odd names', async (t) => {
  const page = readFileSync(new URL('../sql/README.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## Tables'), page.indexOf('## Rules'))
  const named = new Set([...section.matchAll(/`([a-z_.]+)`/g)].map(([, name = '']) => name))
  const schema = readFileSync(SCHEMA_FILE, 'utf8')
  const tables = [...schema.matchAll(/^create table (\w+) \(\n(.*?)^\)/gms)]
  t.ok(tables.length > 40)
  for (const [, table = ''] of tables) t.ok(named.has(table), table)
  for (const column of [...named].filter((name) => name.includes('.') && !name.endsWith('.sql'))) {
    const [table, name = ''] = column.split('.')
    t.match(tables.find(([, other]) => other === table)?.[2], new RegExp(`^  ${name} `, 'm'), column)
  }
})
