import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DEADLINES, isDatabaseAway, openDatabase, type Sql, withDeadline } from '@postrider/core'
import t, { type Test } from 'tap'
import { type AnySql, openAlike } from '../../../../packages/core/src/platform/database/database.ts'
import type {
  DriverConnection,
  DriverPool,
} from '../../../../packages/core/src/platform/database/driver/silent-connections.ts'
import { makeDatabase } from '../../../helpers/database.ts'
import { until } from '../../../helpers/until.ts'

// One test per part of the patch that has none in database.test.ts or silent-connections.test.ts (docs/decisions/0007-driver-patch.md).

const database = await makeDatabase()
t.teardown(() => database.drop())

function openOne(t: Test, options: object = {}): Sql {
  const plain = openDatabase({ url: database.url, name: 'test', connections: 1 })
  const sql = openAlike(plain, options)
  t.teardown(() => sql.end({ timeout: 0 }))
  return sql
}

const poolOf = (sql: Sql): DriverPool => (sql as Sql & { pool: DriverPool }).pool
const connectionOf = (sql: Sql): DriverConnection & { socket: Socket } =>
  poolOf(sql).connections[0] as DriverConnection & { socket: Socket }
const failureOf = (promise: PromiseLike<unknown>) => promise.then(null, (error: Error) => error)

async function endSession(pid: number | undefined): Promise<void> {
  await database.sql`select pg_terminate_backend(${pid as number})`
}

t.test('a statement on a connection that was lost fails, and does not end the process', async (t) => {
  const sql = openOne(t)
  await sql`select 1`
  const session = await sql.reserve()
  const [{ pid } = {}] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`
  const { socket } = connectionOf(sql)
  await endSession(pid)
  // It may be closed before the other session's answer is here.
  await until('it is closed', () => socket.closed)
  t.equal(isDatabaseAway(await failureOf(session`select 1`)), true)
})

t.test('a write that was scheduled when the connection was lost does not keep the next one from sending', async (t) => {
  const sql = openOne(t)
  await sql`select 1`
  // The socket is closed in this iteration of the event loop; what is written now is sent in the next one.
  await nextTurn()
  const lost = [failureOf(sql`select 1`), failureOf(sql`select 1`)]
  while (!connectionOf(sql).query) await null
  connectionOf(sql).socket.destroy()
  for (const failure of lost) t.match(await failure, { code: 'CONNECTION_CLOSED' })
  t.match(await sql`select 1 as one`, [{ one: 1 }])
})

t.test('a statement that is sent between the error and the close of a socket fails', async (t) => {
  const sql = openOne(t)
  await sql`select 1`
  const { socket } = connectionOf(sql)
  const sent = new Promise((resolve) => {
    socket.once('error', () => resolve(failureOf(withDeadline(sql, 2000)`select 1`)))
  })
  socket.destroy(new Error('lost'))
  t.match(await sent, { code: 'CONNECTION_CLOSED' })
})

t.test('the first statement on a connection fails if that is lost, also if there are other hosts', async (t) => {
  const { hostname, port } = new URL(database.url)
  const sql = openOne(t, { host: [hostname, hostname], port: [Number(port), Number(port)] })
  const first = failureOf(sql`select pg_sleep(60)`)
  const { socket } = await until('it runs', async () => {
    const [{ count } = { count: 0 }] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where query = 'select pg_sleep(60)' and wait_event = 'PgSleep'`
    return count > 0 && connectionOf(sql)
  })
  socket.destroy()
  t.equal(isDatabaseAway(await first), true)
})

t.test('rows and the error that came before the connection was lost are not part of the next answer', async (t) => {
  const sql = openOne(t)
  const [{ pid } = {}] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const { socket } = connectionOf(sql)
  const before = socket.bytesRead
  const lost = failureOf(
    sql.unsafe(`select repeat('x', 1000), case n when 100 then pg_sleep(60)::text end from generate_series(1, 100) n`),
  )
  await until('rows', () => socket.bytesRead > before + 10_000)
  await endSession(pid)
  await lost
  const [row] = await sql`select 1 as one`
  t.match(row, { one: 1 })
})

t.test('bytes are sent and returned in binary, not as hexadecimal text', async (t) => {
  const sql = openOne(t)
  const bytes = Buffer.alloc(100_000, 'a')
  const ask = () => sql<{ bytes: Buffer }[]>`select ${bytes}::bytea as bytes`
  await ask()
  const { socket } = connectionOf(sql)
  const before = { read: socket.bytesRead, written: socket.bytesWritten }
  t.ok((await ask())[0]?.bytes.equals(bytes))
  t.ok(socket.bytesRead - before.read < 1.1 * bytes.length)
  t.ok(socket.bytesWritten - before.written < 1.1 * bytes.length)
})

t.test('several buffers are one value', async (t) => {
  const sql = openOne(t)
  for (const time of ['first', 'again']) {
    const pieces = [Buffer.from('a'), Buffer.alloc(0), Buffer.alloc(70_000, 'b'), Buffer.from('c')]
    const [row] = await sql<
      { bytes: Buffer }[]
    >`select ${1}::int as one, ${pieces as unknown as Buffer}::bytea as bytes`
    t.ok(row?.bytes.equals(Buffer.concat(pieces)), time)
  }
})

t.test('octets and texts that look like messages of the protocol end no message and begin no statement', async (t) => {
  const sql = openOne(t)
  await sql`create temporary table kept (one int)`
  const message = (type: string, body: string) => {
    const content = Buffer.from(`${body}\0`)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(4 + content.length)
    return Buffer.concat([Buffer.from(type), length, content])
  }
  const query = message('Q', 'drop table kept')
  const forged = Buffer.concat([
    Buffer.from([0, 0, 0, 4]),
    Buffer.from('S'),
    Buffer.from([0, 0, 0, 4]),
    query,
    message('X', ''),
  ])
  for (const octets of [
    forged,
    Buffer.concat([Buffer.alloc(2 ** 16 - 7), forged]),
    Buffer.concat([Buffer.alloc(2 ** 24), forged]),
  ]) {
    const half = octets.length >> 1
    for (const value of [octets, [octets.subarray(0, half), octets.subarray(half)] as unknown as Buffer]) {
      const [row] = await sql<
        { bytes: Buffer }[]
      >`select ${query.toString('latin1').replaceAll('\0', '')} as text, ${value}::bytea as bytes`
      t.ok(row?.bytes.equals(octets), `${octets.length}`)
    }
  }
  t.strictSame([...(await sql`select count(*)::int as count from kept`)], [{ count: 0 }])
})

t.test('a statement whose plan is out of date is sent again with its bytes, in any number of pieces', async (t) => {
  const sql = openOne(t)
  await sql`create table plans (entry int)`
  await sql`insert into plans values (1)`
  for (const pieces of [[], [Buffer.from('a')], [Buffer.from('a'), Buffer.from('b')]]) {
    const ask = () => sql`select plans.*, ${pieces as unknown as Buffer}::bytea as bytes from plans`
    await ask()
    await sql`alter table plans add column ${sql(`added_${pieces.length}`)} int`
    t.strictSame((await ask())[0]?.bytes, Buffer.concat(pieces))
  }
})

t.test('connections have no delay', async (t) => {
  const calls = t.capture(Socket.prototype, 'setNoDelay', Socket.prototype.setNoDelay)
  const sql = openOne(t)
  await sql`select 1`
  t.match(calls(), [{ args: [true] }])
})

t.test('a chunk of a COPY is sent without being copied', async (t) => {
  const sql = openOne(t)
  await sql`create table uncopied (a int)`
  const copy = await sql`copy uncopied from stdin`.writable()
  const writes = t.capture(connectionOf(sql).socket, 'write', connectionOf(sql).socket.write)
  const chunk = Buffer.from('1\n')
  copy.end(chunk)
  await finished(copy)
  t.ok(writes().some(({ args }) => args[0] === chunk))
  t.match(await sql`select a from uncopied`, [{ a: 1 }])
})

t.test('a COPY whose end the server refuses fails its stream and its transaction', async (t) => {
  const sql = openOne(t)
  await sql`create table copied (a int, b int)`
  const error = await failureOf(
    sql.begin(async (transaction) => {
      const copy = await transaction`copy copied from stdin`.writable()
      copy.end('1')
      await finished(copy)
    }),
  )
  t.match(error, { code: '22P04' })
  t.match(await sql`select count(*)::int as count from copied`, [{ count: 0 }])
})

t.test('a COPY whose connection is lost at its end fails its stream', async (t) => {
  const sql = openOne(t)
  await sql`create table locked (a int)`
  const [{ pid } = {}] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  await database.sql`create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(30); return new; end'`
  await database.sql`create trigger wait before insert on locked for each row execute function wait()`
  const copy = await sql`copy locked from stdin`.writable()
  const ended = failureOf(finished(copy))
  copy.end('1\n')
  await until(
    'it waits',
    async () =>
      (await database.sql`select from pg_stat_activity where pid = ${pid as number} and wait_event = 'PgSleep'`)
        .length > 0,
  )
  await endSession(pid)
  t.type(await ended, Error)
})

t.test('a transaction that begins while the socket is full has its connection', async (t) => {
  const full = async (): Promise<Socket> => {
    const { hostname, port } = new URL(database.url)
    const socket = connect(Number(port), hostname)
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
    socket.write = ((...args: unknown[]) => write(...args) && false) as typeof socket.write
    await once(socket, 'connect')
    return socket
  }
  const sql = openOne(t, { socket: full })
  // Long enough to be sent at once.
  const spaces = ' '.repeat(2000)
  t.match(await sql.begin(spaces, (transaction) => transaction`select 1 as one`), [{ one: 1 }])
})

t.test('nothing waits on a connection behind a statement that may take long', async (t) => {
  const sql = openOne(t)
  await sql`select 1`
  const slow = withDeadline(sql, 'work')`select pg_sleep(0.2)`.execute()
  const next = withDeadline(sql, 'mail')`select 1`.execute()
  await nextTurn()
  t.equal(poolOf(sql).queries.length, 1)
  await Promise.all([slow, next])
  t.ok(DEADLINES.mail < 6000 && DEADLINES.work > 6000)
})

t.test('a connection whose statement has given up does not stay with a server that has the wrong role', async (t) => {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  let socket: Socket | undefined
  const late = async (): Promise<Socket> => {
    await opened
    const { hostname, port } = new URL(database.url)
    socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return socket
  }
  const connection = { ...openOne(t).options.connection, default_transaction_read_only: 'on' }
  const sql = openOne(t, { socket: late, target_session_attrs: 'read-write', connection })
  t.match(await failureOf(withDeadline(sql, 250)`select 1`), { code: 'CONNECT_TIMEOUT' })
  open()
  await until('it is closed', () => socket?.destroyed === true)
  t.not(connectionOf(sql).queue, poolOf(sql).queues.open)
})

t.test('what statements and transactions were given is collected with the young objects', async (t) => {
  const sql = openOne(t)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
  const oldBytes = () =>
    getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0
  const ask = (sql: AnySql, text: string) => sql`select length(${text}::text)`
  const begin = (sql: Sql, text: string) => sql.begin((transaction) => ask(transaction, text))
  for (const send of [ask, begin]) {
    await send(sql, '')
    collect()
    const before = oldBytes()
    for (let n = 0; n < 100; n++) await send(sql, 'x'.repeat(10_000) + n)
    for (let n = 0; n < 3; n++) collect({ type: 'minor' })
    const grown = oldBytes() - before
    t.ok(grown < 500_000, `${grown} bytes became old`)
  }
})
