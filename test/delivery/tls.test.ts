import type { Socket } from 'node:net'
import { createSecureContext, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls'
import { ensureCertificate } from '@postrider/core'
import t, { type Test } from 'tap'
import type { Endpoint } from '../../packages/delivery/src/common/endpoint.ts'
import { ConnectionLost, SessionRefused } from '../../packages/delivery/src/common/smtp-errors.ts'
import { HostMemory, openSession } from '../../packages/delivery/src/smtp/session.ts'
import { HANG_UP } from '../helpers/sink.ts'
import { makeAuthority } from './authority.ts'
import { startInternet, startOutbox, stepsOf } from './outbox.ts'
import { type RawServer, type Says, startRawServer, talkSmtp } from './raw-server.ts'
import { startTlsServer, type TlsServerOptions } from './tls-server.ts'

const internet = await startInternet(t)
/** For relay.test, localhost and 127.0.0.1, signed by itself. */
const certificate = await ensureCertificate(internet.service.config)

const authority = await makeAuthority()

function withStartTls(t: Test, options: TlsServerOptions): Promise<RawServer> {
  return startTlsServer(t, { host: internet.newAddress(), port: internet.port }, options)
}

for (const [what, tls] of [
  ['signed by itself', certificate],
  ['for another name and long expired', await authority.issue(['another.example'], { expired: true })],
] as const) {
  t.test(`STARTTLS is used where offered, with a certificate ${what}`, async (t) => {
    const host = await internet.host(t, { tls })
    const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
    t.equal(delivery.attempts[0]?.tls, 'TLSv1.3')
    t.equal(host.messages[0]?.tls, true)
    t.strictSame(
      host.commands.map((command) => command.split(' ')[0]),
      ['EHLO', 'STARTTLS', 'EHLO', 'MAIL', 'RCPT', 'DATA'],
      'and the server is asked again what it can do',
    )
    t.strictSame(
      stepsOf(delivery).map(({ step }) => step),
      ['connect', 'greeting', 'ehlo', 'starttls', 'tls', 'ehlo', 'mail', 'rcpt', 'data', 'dot'],
    )
  })
}

t.test('TLS 1.2 is told from TLS 1.3', async (t) => {
  const server = await withStartTls(t, { context: { ...certificate, maxVersion: 'TLSv1.2' } })
  const delivery = await internet.inState(
    await internet.send(`a@${internet.domain({ a: [server.host] })}`),
    'delivered',
  )
  t.equal(delivery.attempts[0]?.tls, 'TLSv1.2')
})

t.test('where the TLS handshake fails, mail goes in plain text, and TLS is left alone for a while', async (t) => {
  const host = await internet.host(t, { tls: certificate, brokenTls: true })
  const domain = internet.domain([host])
  const first = await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  t.equal(first.attempts[0]?.tls, null)
  t.strictSame(
    stepsOf(first).map(({ step }) => step),
    [
      'connect',
      'greeting',
      'ehlo',
      'starttls',
      'tls',
      'connect',
      'greeting',
      'ehlo',
      'starttls',
      'mail',
      'rcpt',
      'data',
      'dot',
    ],
    'the attempt says that TLS was tried, and that plain text followed',
  )
  t.match(stepsOf(first).find(({ step }) => step === 'tls')?.text, /\S/)
  // Another site with the same host, so that no kept session serves.
  const again = internet.domain([host, { name: 'nowhere.example' }])
  const second = await internet.inState(await internet.send(`b@${again}`), 'delivered')
  t.equal(second.attempts[0]?.tls, null)
  t.match(stepsOf(second)[3], { step: 'starttls', text: /^not used: TLS with this host failed/ })
  t.equal(host.commands.filter((command) => command === 'STARTTLS').length, 1)
})

const BROKEN: Readonly<Record<string, (t: Test) => Promise<RawServer>>> = {
  'knows nothing above TLS 1.0': (t) =>
    withStartTls(t, {
      context: { ...certificate, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
    }),
  'asks for a certificate of ours and ends the session without one': (t) =>
    withStartTls(t, { context: certificate, requestCert: true }),
  'hangs up at STARTTLS': (t) =>
    startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) =>
      talkSmtp(socket, (line) => (line === 'STARTTLS' ? hangUp(socket) : undefined), ['STARTTLS']),
    ),
  'hangs up at the first word over TLS': (t) =>
    withStartTls(t, {
      context: certificate,
      says: (_line, socket) => (socket instanceof TLSSocket ? hangUp(socket) : undefined),
    }),
}

function hangUp(socket: Socket): string {
  socket.destroy()
  return ''
}

for (const [what, start] of Object.entries(BROKEN)) {
  t.test(`a server that ${what} gets its mail in plain text`, async (t) => {
    const server = await start(t)
    const id = await internet.send(`a@${internet.domain({ a: [server.host] })}`)
    const delivery = await internet.inState(id, 'delivered')
    t.equal(delivery.attempts.length, 1)
    t.equal(delivery.attempts[0]?.tls, null)
    t.equal(server.sockets.length, 2)
  })
}

t.test(
  'a server that offers STARTTLS and then refuses it is spoken to in plain text on the same connection',
  async (t) => {
    const server = await withStartTls(t, {
      context: certificate,
      says: () => undefined,
      refuses: '454 4.7.0 no TLS today\r\n',
    })
    const delivery = await internet.inState(
      await internet.send(`a@${internet.domain({ a: [server.host] })}`),
      'delivered',
    )
    t.equal(delivery.attempts[0]?.tls, null)
    t.equal(server.sockets.length, 1)
  },
)

// CVE-2021-38371 and its kin: what somebody on the way adds behind the 220 must not be taken for the server's words over TLS.
for (const [what, injected] of [
  ['a whole reply', '250-raw.test\r\n250 AUTH PLAIN\r\n'],
  ['the start of a reply', '250-raw.test\r\n250-AU'],
  ['a line without an end', '250 AUTH'],
] as const) {
  t.test(`plain text behind the 220 (${what}) ends the session`, async (t) => {
    const server = await withStartTls(t, { context: certificate, refuses: `220 2.0.0 go ahead\r\n${injected}` })
    const id = await internet.send(`a@${internet.domain({ a: [server.host] })}`)
    const delivery = await internet.inState(id, 'delivered')
    t.match(stepsOf(delivery).find(({ step }) => step === 'tls')?.text, /plain text after STARTTLS|unsolicited/)
    t.equal(server.sockets.length, 2, 'the message went on a new one')
    t.ok(server.sockets[0]?.destroyed)
  })
}

t.test('a kept TLS session that was cut costs the next message nothing', async (t) => {
  const host = await internet.host(t, {
    tls: certificate,
    mail: ({ session }) => (session === 1 && host.messages.length > 0 ? HANG_UP : undefined),
  })
  const domain = internet.domain([host])
  await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  const delivery = await internet.inState(await internet.send(`b@${domain}`), 'delivered')
  t.equal(delivery.attempts.length, 1)
  t.match(host.messages, [
    { tls: true, session: 1 },
    { tls: true, session: 2 },
  ])
})

const PASSWORD = 'correct horse'
const plain = Buffer.from(`\0mail\0${PASSWORD}`).toString('base64')

/** A relay host that wants a password: 235 for the right one. */
function authenticating(right: () => boolean): Says {
  return (line) => {
    if (line.startsWith('AUTH PLAIN'))
      return right() && line === `AUTH PLAIN ${plain}` ? '235 2.7.0 ok\r\n' : '535 5.7.8 no\r\n'
    if (line === 'AUTH LOGIN') return '334 VXNlcm5hbWU6\r\n'
    if (line === Buffer.from('mail').toString('base64')) return '334 UGFzc3dvcmQ6\r\n'
    if (line === Buffer.from(PASSWORD).toString('base64')) return right() ? '235 2.7.0 ok\r\n' : '535 5.7.8 no\r\n'
    return undefined
  }
}

t.test('a relay host gets the password by AUTH PLAIN; a wrong one defers', async (t) => {
  let right = false
  const server = await startRawServer(t, {}, (socket) =>
    talkSmtp(
      socket,
      authenticating(() => right),
      ['AUTH LOGIN PLAIN'],
    ),
  )
  const outbox = await startOutbox(t, {
    DELIVERY: `smtp://mail:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}`,
  })
  const id = await outbox.send('a@harbor.example')
  const deferred = await outbox.inState(id, 'deferred')
  t.match(deferred.attempts, [{ stage: 'auth', code: 535, enhanced: '5.7.8' }])
  t.notMatch(server.received(), 'MAIL FROM')
  right = true
  await outbox.advance(2)
  await outbox.inState(id, 'delivered')
  const told = JSON.stringify([await outbox.story(id), outbox.worker.log])
  t.notMatch(told, PASSWORD)
  t.notMatch(told, plain)
})

t.test('smtps:// speaks TLS from the first byte, and AUTH LOGIN where there is nothing else', async (t) => {
  const server = await startRawServer(t, {}, (socket) => {
    const secured = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(certificate) })
    secured.on('error', () => socket.destroy())
    talkSmtp(
      secured,
      authenticating(() => true),
      ['AUTH LOGIN'],
    )
  })
  const outbox = await startOutbox(t, {
    DELIVERY: `smtps://mail:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}`,
  })
  const delivery = await outbox.inState(await outbox.send('a@harbor.example'), 'delivered')
  t.equal(delivery.attempts[0]?.tls, 'TLSv1.3')
  t.notMatch(server.received(), 'harbor.example', 'nothing of it went in plain text')
})

/** A relay host elsewhere: its certificate must be valid for its name before it gets a password. */
const elsewhere = { host: 'relay.test', verify: true, credentials: { user: 'mail', password: PASSWORD } }

function open(endpoint: Partial<Endpoint> & { port: number; address: string }) {
  return openSession({ ...elsewhere, ...endpoint }, { heloName: 'own.test', memory: new HostMemory(), steps: [] })
}

const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => undefined,
    (error: unknown) => error,
  )

t.test('a password is not sent to a relay host elsewhere that offers no TLS', async (t) => {
  const server = await startRawServer(t, {}, (socket) => talkSmtp(socket, undefined, ['AUTH PLAIN']))
  t.match(await failureOf(open({ address: server.host, port: server.port })), {
    constructor: ConnectionLost,
    stage: 'auth',
  })
  t.notMatch(server.received(), 'AUTH')
})

t.test('a password is not sent to a relay host elsewhere that refuses STARTTLS', async (t) => {
  const server = await withStartTls(t, { context: certificate, refuses: '454 4.7.0 no\r\n' })
  t.match(await failureOf(open({ address: server.host, port: server.port })), {
    constructor: ConnectionLost,
    stage: 'auth',
  })
  t.notMatch(server.received(), 'AUTH')
})

t.test('a password is not sent to a relay host elsewhere whose certificate is not trusted', async (t) => {
  const server = await withStartTls(t, { context: certificate })
  t.match(await failureOf(open({ address: server.host, port: server.port })), {
    constructor: ConnectionLost,
    stage: 'tls',
  })
  t.equal(server.sockets.length, 1, 'and there is no second try in plain text')
})

t.test(
  'a relay host elsewhere with a valid certificate gets the password, one with another name does not',
  async (t) => {
    const known = getCACertificates()
    setDefaultCACertificates([...known, certificate.cert])
    t.teardown(() => setDefaultCACertificates(known))
    const server = await withStartTls(t, { context: certificate, says: authenticating(() => true) })
    const connection = await open({ host: 'localhost', address: server.host, port: server.port })
    t.equal(connection.tls, 'TLSv1.3')
    connection.destroy()
    t.match(await failureOf(open({ host: 'other.test', address: server.host, port: server.port })), {
      constructor: ConnectionLost,
      message: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
  },
)

t.test('smtps:// to a server without TLS fails and does not fall back', async (t) => {
  const server = await startRawServer(t, {}, (socket) => talkSmtp(socket))
  t.match(await failureOf(open({ address: server.host, port: server.port, implicitTls: true, verify: false })), {
    stage: 'tls',
  })
  t.equal(server.sockets.length, 1)
})

t.test('a relay host that rejects the password is reported with its reply', async (t) => {
  const server = await withStartTls(t, { context: certificate, says: authenticating(() => false) })
  const failure = await failureOf(open({ address: server.host, port: server.port, verify: false }))
  t.match(failure, { constructor: SessionRefused, stage: 'auth', reply: { code: 535 } })
})
