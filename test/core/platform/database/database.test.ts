import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isDatabaseAway, openDatabase, openSession } from '@postrider/core'
import t from 'tap'
import type { WatchedSql } from '../../../../packages/core/src/platform/database/database.ts'
import { makeDatabase } from '../../../helpers/database.ts'
import { freePorts } from '../../../helpers/ports.ts'
import { until } from '../../../helpers/until.ts'

const database = await makeDatabase()
t.teardown(() => database.drop())

t.test('openDatabase ends a statement on the server after 15 s and shows who it is for', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'shown', connections: 1 })
  t.teardown(() => sql.end())
  const [row] = await sql`
    select current_setting('statement_timeout') as timeout, current_setting('application_name') as name`
  t.match(row, { timeout: '15s', name: 'postrider shown' })
})

t.test('openDatabase takes several hosts and finds the one that answers', async (t) => {
  const [closed] = await freePorts(1)
  const url = database.url.replace(/@([^/]+)/, `@127.0.0.1:${closed},$1`)
  const sql = openDatabase({ url, name: 'test', connections: 1 })
  t.teardown(() => sql.end())
  t.match(await sql`select 1 as one`, [{ one: 1 }])
})

t.test('a connection is not given up because the process was busy while it was being established', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'test', connections: 1 })
  t.teardown(() => sql.end())
  const answer = sql`select 1 as one`.execute()
  // The socket connects in a later turn of the loop.
  await new Promise((resolve) => setTimeout(resolve, 1))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6000)
  t.strictSame([...(await answer)], [{ one: 1 }])
})

t.test('connections that are not needed for a minute are closed, and come back when they are', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'idle', connections: 3 }) as WatchedSql
  t.teardown(() => sql.end())
  const pidsOf = async () =>
    (await Promise.all([1, 2, 3].map(() => sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.05)`)))
      .flat()
      .map(({ pid }) => pid)
  const pids = await pidsOf()
  t.equal(new Set(pids).size, 3)
  const session = openSession(sql)
  t.teardown(() => session.end())
  const [{ pid } = { pid: 0 }] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`
  // A minute of the clock that the pool counts.
  for (let turn = 0; turn < 241; turn++) {
    sql.watch.turn()
    ;(session as WatchedSql).watch.turn()
  }
  await until('their end', async () => {
    const left = await database.sql`select from pg_stat_activity where pid = any(${pids}::int[])`
    return left.length === 0
  })
  t.equal((await database.sql`select from pg_stat_activity where pid = ${pid}`).length, 1, 'a session keeps its locks')
  const next = await pidsOf()
  t.equal(new Set(next).size, 3)
  t.notOk(next.some((one) => pids.includes(one)))
})

t.test('a database that is away, shutting down or full of connections is known as such', async (t) => {
  const [closed] = await freePorts(1)
  const sql = openDatabase({ url: `postgres://user@127.0.0.1:${closed}/db`, name: 'test', connections: 1 })
  t.teardown(() => sql.end())
  const error = await sql`select 1`.catch((error: unknown) => error)
  t.equal(isDatabaseAway(error), true)
  for (const code of ['08006', '08001', '57P01', '57P03', '53300', 'CONNECTION_CLOSED'])
    t.ok(isDatabaseAway({ code }), code)
  for (const code of ['23505', '22P02', '40001', '53100', '42P01']) t.notOk(isDatabaseAway({ code }), code)
  for (const other of [undefined, null, new Error('x'), { code: 8 }]) t.notOk(isDatabaseAway(other))
})

t.test('a session that the server ends is a database that is away, and soon statements work again', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'test', connections: 1 })
  t.teardown(() => sql.end())
  const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const slow = sql`select pg_sleep(20)`.catch((error: unknown) => error)
  await database.sql`select pg_terminate_backend(${pid})`
  t.equal(isDatabaseAway(await slow), true)
  await until('a new session', () => sql`select 1`.then(() => true).catch(() => false))
})

t.test('a transaction whose connection was lost says and commits nothing within the next one on it', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'test', connections: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  await database.sql`create table if not exists lost (name text)`
  let goOn = (): void => {}
  const waits = new Promise<void>((resolve) => (goOn = resolve))
  let late: Promise<unknown> = Promise.resolve()
  const first = sql.begin(async (transaction) => {
    const [{ pid } = { pid: 0 }] = await transaction<{ pid: number }[]>`select pg_backend_pid() as pid`
    await database.sql`select pg_terminate_backend(${pid})`
    await waits
    late = transaction`insert into lost values ('late')`.catch((error: unknown) => error)
    await late
  })
  t.ok(isDatabaseAway(await first.catch((error: unknown) => error)))
  await until('a new session', () => sql`select 1`.then(() => true).catch(() => false))
  const second = sql.begin(async (transaction) => {
    await transaction`insert into lost values ('second')`
    goOn()
    await new Promise((resolve) => setTimeout(resolve, 100))
    t.ok(isDatabaseAway(await late))
    throw new Error('thought better of it')
  })
  await t.rejects(second, { message: 'thought better of it' })
  t.strictSame([...(await sql`select name from lost`)], [])
})

t.test('arrays of built-in types are read as arrays', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'arrays', connections: 1 })
  t.teardown(() => sql.end())
  const types: readonly [type: string, texts: readonly string[], values?: readonly unknown[]][] = [
    ['bool', ['true', 'false'], [true, false]],
    ['int2', ['1', '-2'], [1, -2]],
    ['int4', ['1', '-2'], [1, -2]],
    ['int8', ['9007199254740993']],
    ['float8', ['1.5'], [1.5]],
    ['numeric', ['1.10']],
    ['text', ['a', 'b "c", {d}', '']],
    ['varchar', ['a']],
    ['uuid', ['0192f4a0-0000-7000-8000-000000000000']],
    ['inet', ['10.0.0.1']],
    ['cidr', ['10.0.0.0/8']],
    ['xid8', ['77']],
    ['timestamptz', ['2026-01-05T10:11:12Z'], [new Date('2026-01-05T10:11:12Z')]],
    ['jsonb', ['{"a": [1]}'], [{ a: [1] }]],
    ['bytea', ['\\x00ff'], [Buffer.from([0, 255])]],
  ]
  for (const [type, texts, values = texts] of types) {
    const [row] = await sql`select ${texts as string[]}::text[]::${sql.unsafe(`${type}[]`)} as read`
    t.strictSame(row?.read, values, type)
  }
})

t.test('statements that follow each other use the connection that has planned them', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'turns', connections: 3 })
  t.teardown(() => sql.end())
  await Promise.all(Array.from({ length: 3 }, () => sql`select pg_sleep(0.1)`))
  const pids = new Set<number>()
  for (let n = 0; n < 6; n++) pids.add((await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid as number)
  t.equal(pids.size, 1)
})

t.test('octets go to the database and come back as they are, in any place and of any size', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'octets', connections: 1 })
  t.teardown(() => sql.end())
  const every = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet))
  for (const size of [0, 1, 255, 256, 65_536, 3_000_000]) {
    const octets = Buffer.alloc(size, every)
    // Twice, since the driver sends a statement it knows in another way than one it sees first.
    for (const time of ['first', 'again']) {
      const [row] = await sql<{ last: Buffer; other: Buffer; length: number }[]>`
        select ${octets}::bytea as other, length(${octets}::bytea) as length, ${octets}::bytea as last`
      t.ok(row?.last.equals(octets) && row.other.equals(octets) && row.length === size, `${size} octets, ${time}`)
    }
  }
  const nothing = null as Buffer | null
  t.match(await sql`select 1 as one, ${nothing}::bytea as octets`, [{ one: 1, octets: null }])
})

t.test(
  'statements whose columns change while several are on their way are requested again, each as it was',
  async (t) => {
    const sql = openDatabase({ url: database.url, name: 'test', connections: 1 })
    t.teardown(() => sql.end({ timeout: 1 }))
    await sql`create table ledgers (id int, entry text)`
    await sql`insert into ledgers values (1, 'a')`
    const given = { yes: true, octets: Buffer.from([0, 255]), json: { a: [1] }, last: Buffer.from([1, 2]) }
    const ask = () => sql`
    with given as (select ${given.yes}::boolean as yes, ${given.octets}::bytea as octets, ${given.json as never}::jsonb as json,
                          ${given.last}::bytea as last)
    select ledgers.*, given.* from ledgers, given`
    await ask()
    await sql`alter table ledgers alter column entry type bytea using convert_to(entry, 'utf8')`
    const expected = { id: 1, entry: Buffer.from('a'), ...given }
    for (const [row] of await Promise.all([ask(), ask(), ask()])) t.strictSame({ ...row }, expected)
    t.strictSame({ ...(await ask())[0] }, expected)
  },
)

t.test('what a transaction wrote and what it answered is let go after it', async (t) => {
  const sql = openDatabase({ url: database.url, name: 'test', connections: 1 })
  t.teardown(() => sql.end({ timeout: 1 }))
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const write = async (): Promise<WeakRef<object>[]> => {
    const batch = { octets: Buffer.alloc(1024) }
    await sql.begin((transaction) => transaction`select length(${batch.octets}::bytea)`)
    const answer = await sql.begin(async (transaction) => ({ rows: await transaction`select 1 as one` }))
    return [new WeakRef(batch), new WeakRef(answer)]
  }
  const [written, answered] = await write()
  await sql`select 1`
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  t.equal(written?.deref(), undefined)
  t.equal(answered?.deref(), undefined)
})
