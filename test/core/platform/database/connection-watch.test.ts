import t from 'tap'
import {
  ConnectionWatch,
  type DriverConnection,
  type DriverQuery,
  deadlineFields,
  TURN,
} from '../../../../packages/core/src/platform/database/driver/silent-connections.ts'

/** A pool without a driver: what is read, sent and asked is set by the test. */
function makePool(size: number, options: { ssl?: boolean; closesIdle?: boolean } = {}) {
  const queueOf = <T>(elements: T[]) => ({
    elements,
    get length() {
      return elements.length
    },
    push: (element: T) => elements.push(element),
    shift: () => elements.shift() as T,
    remove: (element: T) => elements.splice(elements.indexOf(element), 1),
  })
  const queues = {
    connecting: queueOf<DriverConnection>([]),
    open: queueOf<DriverConnection>([]),
    busy: queueOf<DriverConnection>([]),
    full: queueOf<DriverConnection>([]),
    ended: queueOf<DriverConnection>([]),
  }
  const connections = Array.from({ length: size }, () => {
    const failures: string[] = []
    const fail = (error: Error) => failures.push((error as Error & { code: string }).code)
    const socket = {
      bytesRead: 0,
      writableLength: 0,
      connecting: false,
      closed: '',
      destroy: () => (socket.closed = 'destroyed'),
      resetAndDestroy: () => (socket.closed = 'reset'),
    }
    const connection = {
      socket: socket as typeof socket | null,
      query: null as DriverQuery | null,
      initial: null as DriverQuery | null,
      idleTimer: { cancel() {} },
      queue: queues.open,
      failures,
      errored: fail,
      error: fail,
      end: () => (connection.queue = queues.ended),
    }
    queues.open.push(connection as unknown as DriverConnection)
    return connection
  })
  const queries = queueOf<DriverQuery>([])
  const pool = { connections: connections as unknown as DriverConnection[], queries, queues }
  const { closesIdle = false, ...address } = options
  const watch = new ConnectionWatch(pool, { host: ['db'], port: [5432], ...address }, { closesIdle })
  const turns = (count: number) => {
    for (let turn = 0; turn < count; turn++) watch.turn()
  }
  // The sockets are seen for the first time.
  turns(1)
  return { connections, queries, queues, watch, turns }
}

function ask(milliseconds: number): DriverQuery & { failure?: string } {
  const query: DriverQuery & { failure?: string } = {
    ...deadlineFields(milliseconds),
    waited: 0,
    reject: (error) => (query.failure = (error as Error & { code: string }).code),
  }
  return query
}

t.test('a connection is reset when its statement has had no sign of activity for its deadline', async (t) => {
  const { connections, queues, turns } = makePool(1)
  const [connection] = connections as [(typeof connections)[0]]
  connection.query = ask(1000)
  turns(4)
  t.strictSame(connection.failures, [])
  turns(1)
  t.strictSame(connection.failures, ['CONNECTION_SILENT'])
  t.equal(connection.socket?.closed, 'reset')
  t.equal(connection.queue, queues.full, 'nothing more is sent on it')
})

t.test('what is read and what is sent are signs of activity', async (t) => {
  const { connections, turns } = makePool(1)
  const [connection] = connections as [(typeof connections)[0]]
  connection.query = ask(1000)
  for (let time = 0; time < 5; time++) {
    turns(4)
    if (connection.socket) time % 2 ? connection.socket.bytesRead++ : connection.socket.writableLength++
  }
  t.strictSame(connection.failures, [])
})

t.test('a statement without a deadline waits for ever', async (t) => {
  const { connections, turns } = makePool(1)
  const [connection] = connections as [(typeof connections)[0]]
  connection.query = ask(0)
  turns(1000)
  t.strictSame(connection.failures, [])
})

t.test(
  'idle connections that are as silent are dropped with it; those in use are not while others are active',
  async (t) => {
    const { connections, queues, turns } = makePool(4)
    const [silent, idle, active, waiting] = connections as [...typeof connections] as [
      (typeof connections)[0],
      (typeof connections)[0],
      (typeof connections)[0],
      (typeof connections)[0],
    ]
    for (const used of [silent, active, waiting]) used.queue = queues.busy
    silent.query = ask(1000)
    active.query = ask(1000)
    waiting.query = ask(60_000)
    for (let turn = 0; turn < 5; turn++) {
      if (active.socket) active.socket.bytesRead++
      turns(1)
    }
    t.strictSame(
      [silent, idle, active, waiting].map(({ failures }) => failures.length),
      [1, 1, 0, 0],
    )
  },
)

t.test('if no connection is active, statements that have waited as long fail, too', async (t) => {
  const { connections, queues, turns } = makePool(3)
  const [quick, patient, unbounded] = connections as [...typeof connections] as [
    (typeof connections)[0],
    (typeof connections)[0],
    (typeof connections)[0],
  ]
  for (const used of [quick, patient, unbounded]) used.queue = queues.busy
  quick.query = ask(1000)
  patient.query = ask(60_000)
  unbounded.query = ask(0)
  turns(5)
  t.strictSame(
    [quick, patient, unbounded].map(({ failures }) => failures),
    [['CONNECTION_SILENT'], ['CONNECTION_SILENT'], []],
  )
})

t.test(
  'what waits for a connection fails unsent, in the queue and on the connection that is being established',
  async (t) => {
    const { connections, queries, queues, turns } = makePool(1)
    const [connection] = connections as [(typeof connections)[0]]
    connection.queue = queues.full
    connection.initial = ask(1000)
    const [first, patient] = [ask(1000), ask(60_000)]
    queries.push(first)
    queries.push(patient)
    turns(4)
    t.strictSame([connection.failures, first.failure], [[], undefined])
    turns(1)
    t.strictSame(
      [connection.failures, first.failure, patient.failure],
      [['CONNECT_TIMEOUT'], 'CONNECT_TIMEOUT', undefined],
    )
    t.strictSame(queries.elements, [patient])
  },
)

t.test('a connection must be established within five seconds, whatever the deadline of its statement', async (t) => {
  const { connections, queues, turns } = makePool(1)
  const [connection] = connections as [(typeof connections)[0]]
  connection.queue = queues.connecting
  connection.initial = ask(60_000)
  turns(20)
  t.strictSame(connection.failures, [])
  turns(1)
  t.strictSame(connection.failures, ['CONNECT_TIMEOUT'])
  t.equal(connection.socket?.closed, 'reset')
})

t.test('a connection that is not one of TCP, or not established, is destroyed and not reset', async (t) => {
  const { connections, turns } = makePool(1, { ssl: true })
  const [connection] = connections as [(typeof connections)[0]]
  connection.query = ask(250)
  turns(2)
  t.equal(connection.socket?.closed, 'destroyed')
})

t.test('time counts while anything is waited for', async (t) => {
  const { connections, turns, watch } = makePool(1)
  const [connection] = connections as [(typeof connections)[0]]
  turns(100)
  t.equal(watch.quietFor(), 0)
  connection.query = ask(60_000)
  turns(10)
  t.equal(watch.quietFor(), 10 * TURN)
  if (connection.socket) connection.socket.bytesRead++
  turns(1)
  t.equal(watch.quietFor(), 0)
})

t.test('a statement that may take longer than six seconds has its connection to itself', async (t) => {
  t.strictSame(deadlineFields(5000), { deadline: 20, alone: false })
  t.strictSame(deadlineFields(6001), { deadline: 25, alone: true })
})

t.test('a connection that is unused for a minute is closed, unless it is of a session', async (t) => {
  const { connections, queues, turns } = makePool(3, { closesIdle: true })
  const [used, idle, busy] = connections as [...typeof connections] as [
    (typeof connections)[0],
    (typeof connections)[0],
    (typeof connections)[0],
  ]
  busy.queue = queues.busy
  for (let second = 0; second < 59; second++) {
    if (used.socket) used.socket.bytesRead++
    turns(1000 / TURN)
  }
  t.equal(idle.queue, queues.open, 'not before')
  if (used.socket) used.socket.bytesRead++
  turns(1000 / TURN)
  t.equal(idle.queue, queues.ended)
  t.equal(used.queue, queues.open, 'one that is used stays')
  t.equal(busy.queue, queues.busy, 'a transaction that waits stays')
  t.strictSame([idle.failures, idle.socket?.closed], [[], ''], 'it is closed in order')
  const session = makePool(1)
  session.turns(1000)
  t.equal(session.connections[0]?.queue, session.queues.open)
})

t.test('a connection whose closing the database does not answer is reset', async (t) => {
  const { connections, turns } = makePool(1, { closesIdle: true })
  const [connection] = connections as [(typeof connections)[0]]
  turns(60_000 / TURN)
  turns(5000 / TURN)
  t.equal(connection.socket?.closed, '')
  turns(2)
  t.equal(connection.socket?.closed, 'reset')
})
