import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { migrate, readSchemaState, type Sql } from '@postrider/core'
import t from 'tap'
import { nameMigrationsBefore } from '../../../helpers/before-baseline.ts'
import { schemaOf, WRITTEN_BY } from '../../../helpers/schema-file.ts'
import { makeEmptyDatabase } from './empty-database.ts'

/** SHA-256 of `git show ce6262ae:sql/schema.sql`, which the 91 migrations made, from its fourth line on. */
const BEFORE = 'c3f915422359e7be5ec44cbe78a650e463120821e055cb33e02e45791a292cfc'

/** A folder with the files of the baseline, and with `later`. */
function folderWith(later: Readonly<Record<string, string>> = {}): string {
  const sql = fileURLToPath(new URL('../../../../sql', import.meta.url))
  const folder = mkdtempSync(`${tmpdir()}/sql-`)
  for (const name of readdirSync(sql)) if (name <= '0091~') cpSync(`${sql}/${name}`, `${folder}/${name}`)
  for (const [name, text] of Object.entries(later)) writeFileSync(`${folder}/${name}`, text)
  return folder
}

const schemaText = async (sql: Sql) => (await schemaOf(sql)).split('\n').slice(3).join('\n')
const rowsOf = (sql: Sql) => sql`select * from schema_migrations order by name`

t.test('the baseline makes the schema that the 91 migrations before it made', async (t) => {
  const sql = (await makeEmptyDatabase(t)).open()
  await migrate(sql, folderWith())
  const [version] = await sql<{ major: number }[]>`select current_setting('server_version_num')::int / 10000 as major`
  if (version?.major !== WRITTEN_BY) return t.comment(`the digest is of the wording of Postgres ${WRITTEN_BY}`)
  const digest = createHash('sha256')
    .update(await schemaText(sql))
    .digest('hex')
  t.equal(digest, BEFORE, 'compare with git show ce6262ae:sql/schema.sql')
})

t.test(
  'a database that has the 91 goes on from them: nothing is changed, and only later migrations are applied',
  async (t) => {
    const sql = (await makeEmptyDatabase(t)).open()
    await migrate(sql, folderWith())
    await nameMigrationsBefore(sql, 91)
    const [schema, rows] = [await schemaText(sql), await rowsOf(sql)]
    t.strictSame(await migrate(sql, folderWith()), [])
    t.strictSame([await schemaText(sql), await rowsOf(sql)], [schema, rows])
    const state = await readSchemaState(sql)
    t.match(state, { unknown: [], isEmpty: false, tooOld: undefined })
    t.notOk([...state.pending, ...state.later].some((name) => name < '0092'))

    const folder = folderWith({ '0092_parcels.sql': '-- expand\ncreate table parcels (id int)' })
    t.strictSame(await migrate(sql, folder), ['0092_parcels.sql'])
    t.strictSame(await migrate(sql, folder), [])
    t.match(await readSchemaState(sql), { unknown: ['0092_parcels.sql'] })
  },
)

t.test(
  'a database that lacks one of the 91 is refused, with the version to pass through, and not changed',
  async (t) => {
    for (const count of [90, 1]) {
      const sql = (await makeEmptyDatabase(t)).open()
      await migrate(sql, folderWith())
      await nameMigrationsBefore(sql, count)
      const [schema, rows] = [await schemaText(sql), await rowsOf(sql)]
      await t.rejects(migrate(sql), {
        message: new RegExp(
          `^the database has ${count} of the 91 migrations .*: check out commit ce6262ae, run "npm run setup" and`,
        ),
      })
      t.strictSame([await schemaText(sql), await rowsOf(sql)], [schema, rows])
      t.match(await readSchemaState(sql), { tooOld: count })
    }
  },
)
