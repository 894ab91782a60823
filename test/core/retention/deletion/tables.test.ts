import t from 'tap'
import { OWN_ROWS, STAYING } from '../../../../packages/core/src/retention/deletion/own-rows.ts'
import { removeOwnRows } from '../../../../packages/core/src/retention/deletion/remove-rows.ts'
import { moveClock } from '../../../helpers/database.ts'
import { makeService } from '../../../helpers/service.ts'
import { accountTables, closeAccount, insertAnyRow, KNOWN, removeAll, rowsOf } from './deleted.ts'

const service = await makeService(t)
const { core, sql } = service
const tables = await accountTables(service)

t.test('each table with a column account_id is one whose rows a removal removes, or says why they stay', async (t) => {
  t.ok(tables.length > 50)
  t.strictSame(
    tables.filter((table) => !KNOWN.has(table)),
    [],
    'packages/core/src/retention/deletion/own-rows.ts has none of these',
  )
})

t.test(
  'no table that is removed by the places of its rows has partitions, in which rows of others have the same places',
  async (t) => {
    const partitioned = await sql`
    select relname from pg_class where relkind = 'p' and relname = any(${OWN_ROWS.map(({ table }) => table)}::text[])`
    t.strictSame([...partitioned], [])
  },
)

t.test('of a deleted account, no table has a row but those that say why, and other accounts lose none', async (t) => {
  t.teardown(() => moveClock(sql, '0'))
  const [gone, other] = [await service.makeSender(), await service.makeSender()]
  await sql`insert into users (name, email, email_key) values ('Lena', 'lena@harbor.example', 'lena@harbor.example')`
  const own = await rowsOf(service, tables, gone.accountId)
  for (const table of tables.filter((name) => !Object.hasOwn(STAYING, name) && own[name] === undefined)) {
    await insertAnyRow(service, table, gone.accountId).catch((error: Error) => t.fail(`${table}: ${error.message}`))
  }
  const before = await rowsOf(service, tables, gone.accountId)
  t.strictSame(
    tables.filter((table) => before[table] === undefined && !Object.hasOwn(STAYING, table)),
    [],
    'each table had a row',
  )
  for (const rows of OWN_ROWS.filter(({ key }) => key)) {
    const undone = sql.begin(async (transaction) => {
      const { accountId } = gone
      const one = await removeOwnRows(transaction, { ...rows, limit: 1 }, { accountId, position: undefined })
      t.match(one, { removed: 1, next: Array }, `${rows.table}: more may follow`)
      t.strictSame(
        await removeOwnRows(transaction, rows, { accountId, position: one.next }),
        { removed: 0 },
        rows.table,
      )
      throw new Error('undone')
    })
    await t.rejects(undone, { message: 'undone' })
  }
  const others = await rowsOf(service, tables, other.accountId)
  await closeAccount(service, gone.accountId, 0)
  await moveClock(sql, '6 minutes')
  await sql`update delivery_queue set worker_id = null`
  await removeAll(service)
  const [deletion] = await core.retention.deletions.list()
  t.match(deletion, { accountId: gone.accountId, state: 'done' })
  t.strictSame(Object.keys(await rowsOf(service, tables, gone.accountId)), ['account_deletions'])
  t.strictSame(await rowsOf(service, tables, other.accountId), others)
})
