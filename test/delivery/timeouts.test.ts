import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { Endpoint } from '../../packages/delivery/src/common/endpoint.ts'
import type { SmtpConnection } from '../../packages/delivery/src/smtp/connection.ts'
import { MessageOctets } from '../../packages/delivery/src/smtp/message-octets.ts'
import { HostMemory, openSession } from '../../packages/delivery/src/smtp/session.ts'
import { runTransaction, type TransactionEnd } from '../../packages/delivery/src/smtp/transaction.ts'
import { passTime } from '../helpers/pass-time.ts'
import { type RawServer, startRawServer, talkSmtp } from './raw-server.ts'

/** The clock's own, while the tests hold the other one. */
const realTimeout = setTimeout
const realWait = (ms: number): Promise<void> => new Promise((resolve) => realTimeout(resolve, ms))

/** Waits by that clock. What the held one is moved by counts only once the client waits for what does not come. */
async function realUntil(what: string, look: () => boolean): Promise<void> {
  for (let looks = 0; !look(); looks++) {
    if (looks > 3000) throw new Error(`waited for ${what}`)
    await realWait(5)
  }
}

function holdClock(t: Test): void {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
}

const credentials = { user: 'mail', password: 'secret' }

/** The sockets of all clients in this process, in the order in which they were opened. */
const clients: Socket[] = []
subscribe('net.client.socket', (message) => clients.push((message as { socket: Socket }).socket))

function open({ host, port }: RawServer, more: Partial<Endpoint> = {}): Promise<SmtpConnection> {
  const endpoint = { host, address: host, port, ...more }
  return openSession(endpoint, { heloName: 'own.test', memory: new HostMemory(), steps: [] })
}

function send(
  connection: SmtpConnection,
  octets = Buffer.from('Subject: x\r\n\r\nx\r\n'),
  onRelease = () => {},
): Promise<TransactionEnd> {
  const message = new MessageOctets(octets, { isOwn: false })
  message.onRelease = onRelease
  const beforeEndOfData = async (): Promise<boolean> => true
  return runTransaction(connection, {
    from: 'b@own.test',
    to: 'a@far.test',
    head: '',
    size: octets.length,
    message,
    utf8: false,
    beforeEndOfData,
  })
}

/** A server that falls silent at the line that starts like this. */
function silentAt(t: Test, start: string, capabilities: readonly string[] = []): Promise<RawServer> {
  return startRawServer(t, {}, (socket) =>
    talkSmtp(socket, (line) => ((start === '' ? line === '' : line.startsWith(start)) ? '' : undefined), capabilities),
  )
}

interface Case {
  readonly stage: string
  readonly silentAt: string
  /** RFC 5321 4.5.3.2, in seconds; where it is silent, our own. */
  readonly seconds: number
  readonly capabilities?: readonly string[]
  readonly endpoint?: Partial<Endpoint>
}

const OPENING: readonly Case[] = [
  { stage: 'greeting', silentAt: '', seconds: 300 },
  { stage: 'ehlo', silentAt: 'EHLO', seconds: 300 },
  { stage: 'auth', silentAt: 'AUTH', seconds: 120, capabilities: ['AUTH PLAIN'], endpoint: { credentials } },
  // The fallback to plain text is not for who must prove itself.
  { stage: 'tls', silentAt: 'STARTTLS', seconds: 120, capabilities: ['STARTTLS'], endpoint: { verify: true } },
]

for (const { stage, silentAt: start, seconds, capabilities, endpoint } of OPENING) {
  t.test(`silence at ${start || 'the greeting'} ends the session after ${seconds} s`, async (t) => {
    const server = await silentAt(t, start, capabilities)
    holdClock(t)
    let failure: unknown
    const before = clients.length
    const opening = open(server, endpoint).catch((error: unknown) => {
      failure = error
    })
    await realUntil(stage, () =>
      start === '' ? clients[before]?.connecting === false : server.received().includes(start),
    )
    mock.timers.tick(seconds * 1000 - 1)
    await realWait(20)
    t.equal(failure, undefined, 'not a moment sooner')
    mock.timers.tick(1)
    await opening
    t.match(failure, { stage, message: `no reply within ${seconds} s` })
  })
}

t.test('a TLS handshake that hangs is given up after 30 s', async (t) => {
  const server = await startRawServer(t, {}, (socket) => {
    talkSmtp(
      socket,
      (line) => {
        if (line === 'STARTTLS') setImmediate(() => socket.removeAllListeners('data').resume())
        return line === 'STARTTLS' ? '220 2.0.0 go ahead\r\n' : undefined
      },
      ['STARTTLS'],
    )
  })
  holdClock(t)
  let failure: unknown
  const opening = open(server, { verify: true }).catch((error: unknown) => {
    failure = error
  })
  await realUntil('the handshake', () => {
    const [socket] = server.sockets
    const begun = server.received().indexOf('STARTTLS\r\n')
    return begun !== -1 && (socket?.bytesRead ?? 0) > begun + 'STARTTLS\r\n'.length
  })
  mock.timers.tick(29_999)
  await realWait(20)
  t.equal(failure, undefined)
  mock.timers.tick(1)
  await opening
  t.match(failure, { stage: 'tls', message: 'no TLS within 30 s' })
})

/** A transaction under way, and how it ended as soon as it has. */
function watched(ending: Promise<TransactionEnd>): { readonly ending: Promise<TransactionEnd>; end?: TransactionEnd } {
  const sending: ReturnType<typeof watched> = { ending }
  void ending.then((end) => Object.assign(sending, { end }))
  return sending
}

const IN_TRANSACTION: readonly Case[] = [
  { stage: 'mail', silentAt: 'MAIL', seconds: 300 },
  { stage: 'rcpt', silentAt: 'RCPT', seconds: 300 },
  { stage: 'data', silentAt: 'DATA', seconds: 300 },
]

for (const { stage, silentAt: start, seconds } of IN_TRANSACTION) {
  t.test(`silence at ${start} ends the session after ${seconds} s`, async (t) => {
    const server = await silentAt(t, start)
    const connection = await open(server)
    holdClock(t)
    const sending = watched(send(connection))
    await realUntil(start, () => server.received().includes(start))
    mock.timers.tick(seconds * 1000 - 1)
    await realWait(20)
    t.equal(sending.end, undefined, 'not a moment sooner')
    mock.timers.tick(1)
    t.match(await sending.ending, { kind: 'lost', stage, reason: `no reply within ${seconds} s` })
    t.notOk(connection.usable)
  })
}

t.test('of commands that leave in one go each has its own time for its reply', async (t) => {
  let client: Socket | undefined
  const server = await startRawServer(t, {}, (socket) => {
    client = socket
    // Says nothing of its own accord once the commands have come.
    talkSmtp(socket, (line) => (/^(MAIL|RCPT|DATA)/.test(line) ? '' : undefined), ['PIPELINING'])
  })
  const connection = await open(server)
  holdClock(t)
  connection.takeSteps()
  const sending = watched(send(connection))
  await realUntil('the commands', () => server.received().includes('DATA'))
  for (const reply of ['250 2.1.0 ok', '250 2.1.5 ok']) {
    mock.timers.tick(299_000)
    client?.write(`${reply}\r\n`)
    await realUntil('the reply to be read', () => connection.takeSteps().length > 0)
    await realWait(20)
    t.equal(sending.end, undefined, `"${reply}" came in time`)
  }
  mock.timers.tick(300_000)
  t.match(await sending.ending, { kind: 'lost', stage: 'data', reason: 'no reply within 300 s' })
})

t.test(
  'silence at the final dot is indeterminate after ten minutes, and a reply after that changes nothing',
  async (t) => {
    const server = await silentAt(t, '.')
    const connection = await open(server)
    holdClock(t)
    const sending = watched(send(connection))
    await realUntil('the final dot', () => server.received().endsWith('\r\n.\r\n'))
    mock.timers.tick(599_999)
    await realWait(20)
    t.equal(sending.end, undefined)
    mock.timers.tick(1)
    t.strictSame(await sending.ending, { kind: 'indeterminate', reason: 'no reply within 600 s' })
    server.sockets[0]?.write('250 2.0.0 taken after all\r\n')
    await realWait(50)
    t.notOk(connection.usable)
  },
)

/** Takes a message's DATA and then reads only as much as it is told to. `heldUp` waits until the client has a block it cannot send. */
async function slowReader(t: Test) {
  const server = await startRawServer(t, {}, (socket) =>
    talkSmtp(socket, (line) => {
      if (line === 'DATA') setImmediate(() => socket.removeAllListeners('data').pause())
      return undefined
    }),
  )
  const read = async (octets: number): Promise<void> => {
    const [socket] = server.sockets
    if (!socket) throw new Error('nobody has connected')
    const until = socket.bytesRead + octets
    let last = ''
    // Stops with the block that is enough: looking from time to time, a busy machine would read the whole message.
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        last = (last + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5)
        if (socket.bytesRead < until && last !== '\r\n.\r\n') return
        socket.removeAllListeners('data').pause()
        resolve()
      })
      // The client may leave before.
      socket.once('close', resolve).resume()
    })
    if (last === '\r\n.\r\n') socket.write('250 2.0.0 taken\r\n')
  }
  const heldUp = (): Promise<void> => {
    let [written, looks] = [0, 0]
    return realUntil('the client to wait with the same block in twenty looks', () => {
      const { bytesWritten = 0, writableLength = 0 } = clients.at(-1) ?? {}
      looks = writableLength > 0 && bytesWritten === written ? looks + 1 : 0
      written = bytesWritten
      return looks === 20
    })
  }
  return { server, read, heldUp }
}

// More than the kernel's buffers hold, up to 37 MB here, when a part of it has been read.
const large = Buffer.from(`Subject: x\r\n\r\n${'a long line of text\r\n'.repeat(3_500_000)}`)

t.test('a server that reads slowly gets its message, as long as it takes a block every three minutes', async (t) => {
  const { server, read, heldUp } = await slowReader(t)
  const connection = await open(server)
  holdClock(t)
  const sending = watched(send(connection, large))
  for (let round = 0; round < 3; round++) {
    await heldUp()
    mock.timers.tick(179_000)
    passTime(179_000)
    await realWait(20)
    t.equal(sending.end, undefined, 'it has read something within three minutes')
    await read(8_000_000)
  }
  await read(large.length)
  t.match(await sending.ending, { kind: 'reply', stage: 'dot', reply: { code: 250 } })
})

t.test('a server that stops reading is left after three minutes', async (t) => {
  const { server, heldUp } = await slowReader(t)
  const connection = await open(server)
  holdClock(t)
  const ending = send(connection, large)
  await heldUp()
  mock.timers.tick(180_000)
  t.match(await ending, { kind: 'lost', stage: 'data', reason: 'the server stopped reading' })
})

t.test('a server that takes less than 5,000 bytes per second of a message is left', async (t) => {
  const { server, read, heldUp } = await slowReader(t)
  const connection = await open(server)
  const sending = watched(send(connection, large))
  await heldUp()
  passTime(179_000)
  await read(8_000_000)
  await realWait(100)
  t.equal(sending.end, undefined, 'not in the first three minutes')
  passTime(20_000_000)
  await read(8_000_000)
  t.match(await sending.ending, { kind: 'lost', stage: 'data', reason: 'the server takes the message too slowly' })
})

t.test('a large message is released as soon as the kernel has all of it, before the server replies', async (t) => {
  const connection = await open(await silentAt(t, '.'))
  let released: (() => void) | undefined
  const release = new Promise<void>((resolve) => {
    released = resolve
  })
  const sending = watched(send(connection, large.subarray(0, 1_000_000), released))
  await release
  t.equal(sending.end, undefined)
  connection.destroy()
  await sending.ending
})
