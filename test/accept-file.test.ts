import { readFileSync } from 'node:fs'
import t from 'tap'
import { ACCEPT_FILE, acceptFile } from './helpers/accept-file.ts'
import { makeWholeDatabase } from './helpers/database.ts'

const database = await makeWholeDatabase()
t.teardown(() => database.drop())

t.test('docs/accept.sql is the accept statement as the database gets it', async (t) => {
  t.equal(readFileSync(ACCEPT_FILE, 'utf8'), await acceptFile(database.url), 'run npm run docs')
})

t.test('it can be pasted into psql', async (t) => {
  await database.sql.unsafe(readFileSync(ACCEPT_FILE, 'utf8')).simple()
  const prepared = await database.sql<{ name: string; parameters: number }[]>`
    select name, cardinality(parameter_types) as parameters from pg_prepared_statements where name like 'accept%' order by name`
  t.match(prepared, [{ name: 'accept_any_messages' }, { name: 'accept_messages' }])
})
