import { openDatabase } from '@postrider/core'
import t from 'tap'
import { sendBehind } from '../../../../packages/core/src/platform/database/driver/send-behind.ts'
import { makeService } from '../../../helpers/service.ts'

const service = await makeService(t)
const pool = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 3 })
t.teardown(() => pool.end({ timeout: 1 }))

/** Runs `first` with a statement behind it that returns the session it ran in; undefined if it was not sent. */
async function runWithOneBehind(first: Promise<unknown>) {
  let pid: Promise<number | undefined> | undefined
  const wasBehind = sendBehind(
    first,
    () => pool.unsafe('select pg_backend_pid() as pid'),
    (sent) => {
      pid = (sent as Promise<{ pid: number }[]>).then(([row]) => row?.pid)
    },
  )
  const outcome = await first.then(
    (rows) => ({ rows: rows as { pid?: number }[] }),
    (error: Error) => ({ error }),
  )
  return { outcome, pid: await pid, wasBehind: wasBehind() }
}

t.test('a statement is sent behind another one on its connection, once that has been run there', async (t) => {
  const first = () => pool`select pg_backend_pid() as pid, ${1}::int as number`
  t.match(await runWithOneBehind(first()), { pid: undefined, wasBehind: false })
  const { outcome, pid, wasBehind } = await runWithOneBehind(first())
  t.ok(wasBehind)
  t.match(outcome, { rows: [{ pid }] })
  t.same(await pool`select 1 as one`, [{ one: 1 }], 'the connection is free again')
})

t.test('a statement behind one that fails runs all the same', async (t) => {
  const first = (by: number) => pool`select 1 / ${by}::int`
  await first(1)
  const { outcome, pid } = await runWithOneBehind(first(0))
  t.match(outcome, { error: /division by zero/ })
  t.type(pid, 'number')
})

t.test('a statement was not behind another one that was planned and sent again', async (t) => {
  await pool`create table renewed (number int)`
  const first = () => pool`select * from renewed where number is distinct from ${1}::int`
  await first()
  await pool`alter table renewed add column text text`
  const { outcome, wasBehind } = await runWithOneBehind(first())
  t.match(outcome, { rows: [] })
  t.notOk(wasBehind)
})
