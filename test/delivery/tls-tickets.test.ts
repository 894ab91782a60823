import { mock } from 'node:test'
import { connect as connectTls, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import type { TlsLevel } from '@postrider/core'
import t, { type Test } from 'tap'
import { TlsRefused } from '../../packages/delivery/src/common/smtp-errors.ts'
import type { SmtpConnection } from '../../packages/delivery/src/smtp/connection.ts'
import { HostMemory, openSession } from '../../packages/delivery/src/smtp/session.ts'
import { type IssuedCertificate, makeAuthority } from './authority.ts'
import { startRawServer, talkSmtp } from './raw-server.ts'
import { startTlsServer } from './tls-server.ts'

const authority = await makeAuthority()
const known = getCACertificates()
// As with the authorities of the system, this one is known when a session begins of which no certificate is demanded.
setDefaultCACertificates([...known, authority.cert])
t.teardown(() => setDefaultCACertificates(known))

const NAME = 'mx.harbor.example'
const right = await authority.issue([NAME])
const otherName = await authority.issue(['other.example'])

/** Sessions of one worker with one host; `resumed` has an entry for each. */
async function startHost(t: Test, certificate: IssuedCertificate, version: 'TLSv1.2' | 'TLSv1.3') {
  const memory = new HostMemory()
  const resumed: boolean[] = []
  const context = { ...certificate, maxVersion: version }
  const server = await startTlsServer(t, {}, { context, onSecure: (isResumed) => void resumed.push(isResumed) })
  const endpoint = { host: NAME, address: server.host, port: server.port }
  return {
    memory,
    resumed,
    endpoint,
    async open(level: TlsLevel): Promise<SmtpConnection> {
      const connection = await openSession(endpoint, { heloName: 'own.test', memory, steps: [], level })
      // A ticket of TLS 1.3 arrives after the handshake.
      await connection.command('NOOP', 'rset', 5000)
      connection.destroy()
      await connection.closed
      return connection
    },
  }
}

type Host = Awaited<ReturnType<typeof startHost>>

/** The key of the tickets of a level. */
const at = ({ endpoint }: Host, level: TlsLevel): SmtpConnection => ({ endpoint, level }) as SmtpConnection

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  t.test(`${version}: a session that was verified is resumed, and is verified again`, async (t) => {
    const host = await startHost(t, right, version)
    for (const level of ['verified', 'verified'] as const) t.equal((await host.open(level)).isVerified, true)
    t.strictSame(host.resumed, [false, true])
    await host.open('required')
    t.equal(host.resumed[2], false, 'but not at another level')
    t.equal((await host.open('required')).isVerified, true, 'and what is known of the certificate stays known')
    t.equal(host.resumed[3], true)
  })

  t.test(`${version}: a resumed session has the result for TLS reports that it began with`, async (t) => {
    for (const [certificate, result] of [
      [otherName, 'certificate-host-mismatch'],
      [await authority.issue([NAME], { expired: true }), 'certificate-expired'],
      [right, undefined],
    ] as const) {
      const host = await startHost(t, certificate, version)
      for (let time = 0; time < 2; time++) t.equal((await host.open('opportunistic')).certificateResult, result)
      t.strictSame(host.resumed, [false, true])
    }
  })

  t.test(`${version}: a session is not resumed as verified after its certificate has expired`, async (t) => {
    const host = await startHost(t, right, version)
    await host.open('verified')
    const ticket = host.memory.ticket(at(host, 'verified'))
    t.equal(ticket?.verdict.isValid, true)
    if (!ticket) return
    host.memory.keepTicket(at(host, 'verified'), { ...ticket, verdict: { isValid: true, until: Date.now() - 1 } })
    await t.rejects(host.open('verified'), { message: /CERT_HAS_EXPIRED/ })
    t.equal((await host.open('verified')).isVerified, true, 'the next session begins anew')
  })

  t.test(`${version}: a session that began without a demand does not pass for verified`, async (t) => {
    const host = await startHost(t, otherName, version)
    for (const level of ['opportunistic', 'required', 'required'] as const)
      t.equal((await host.open(level)).isVerified, false)
    t.strictSame(host.resumed, [false, false, true])
    await t.rejects(host.open('verified'), TlsRefused)
    t.not(host.resumed[3], true, 'its ticket was not offered')
  })

  t.test(
    `${version}: Node takes the ticket of an unverified session for a verified certificate, this service does not`,
    async (t) => {
      const host = await startHost(t, otherName, version)
      await host.open('required')
      const ticket = host.memory.ticket(at(host, 'required'))
      t.equal(ticket?.verdict.isValid, false)
      if (!ticket) return
      t.equal(await authorizedByNode(t, otherName, version), true, 'the hazard')
      // Even if it were offered by mistake.
      host.memory.keepTicket(at(host, 'verified'), ticket)
      await t.rejects(host.open('verified'), { message: /the session was not verified when it began/ })
    },
  )
}

/** What Node says of a resumed session, which began without a demand, with a certificate for another name. */
async function authorizedByNode(t: Test, certificate: IssuedCertificate, version: 'TLSv1.2' | 'TLSv1.3') {
  const { createServer } = await import('node:tls')
  const server = createServer(
    { ...certificate, maxVersion: version },
    (socket) => void socket.on('error', () => {}).write('x'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const begin = (rejectUnauthorized: boolean, session?: Buffer) =>
    new Promise<{ readonly socket: TLSSocket; readonly session: Buffer | undefined }>((resolve, reject) => {
      let last: Buffer | undefined
      const options = { host: '127.0.0.1', port, servername: NAME, rejectUnauthorized, ...(session ? { session } : {}) }
      const socket = connectTls(options)
      socket.on('session', (ticket) => (last = ticket))
      socket.once('error', reject)
      socket.once('data', () => setImmediate(() => resolve({ socket: socket.destroy(), session: last })))
    })
  const first = await begin(false)
  t.equal(first.socket.authorized, false)
  return (await begin(true, first.session)).socket.authorized
}

t.test('a ticket is forgotten when the session with it fails, so that the next one can succeed', async (t) => {
  const host = await startHost(t, right, 'TLSv1.3')
  await host.open('verified')
  host.memory.keepTicket(at(host, 'verified'), {
    session: Buffer.from('broken'),
    verdict: { isValid: true, until: Date.now() + 60_000 },
  })
  await host.open('verified').catch(() => {})
  t.equal((await host.open('verified')).isVerified, true)
})

t.test(
  'a handshake that hangs is given up after 30 seconds, and TLS that is demanded is not replaced by plain text',
  async (t) => {
    const server = await startTlsServer(t, {}, { context: right, handshake: 'silent' })
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const endpoint = { host: NAME, address: server.host, port: server.port }
    const memory = new HostMemory()
    const commands = 'EHLO own.test\r\nSTARTTLS\r\n'
    for (const [no, level] of (['required', 'verified'] as const).entries()) {
      const opening = openSession(endpoint, { heloName: 'own.test', memory, steps: [], level })
      const hangs = t.rejects(opening, { constructor: TlsRefused, enhanced: '4.7.5', message: /no TLS within 30 s/ })
      // The held clock must not move before the client waits for the handshake, which it has begun then.
      while ((server.sockets[no]?.bytesRead ?? 0) <= commands.length)
        await new Promise((resolve) => setImmediate(resolve))
      mock.timers.tick(30_000)
      await hangs
    }
    t.equal(server.sockets.length, 2, 'one connection for each')
  },
)

t.test('that TLS of a host was broken an hour ago does not count for mail that demands TLS', async (t) => {
  let broken = true
  const server = await startRawServer(t, {}, (socket) =>
    talkSmtp(socket, (line) => (line === 'STARTTLS' && broken ? void socket.destroy() : undefined), ['STARTTLS']),
  )
  const endpoint = { host: NAME, address: server.host, port: server.port }
  const memory = new HostMemory()
  const open = (level: TlsLevel) => openSession(endpoint, { heloName: 'own.test', memory, steps: [], level })
  await t.rejects(open('required'), TlsRefused)
  t.equal(memory.tlsIsBroken(`${NAME} `), false, 'a connection lost under a demand says nothing about the host')
  const plain = await open('opportunistic')
  t.equal(plain.tls, undefined)
  plain.destroy()
  t.equal(memory.tlsIsBroken(`${NAME} `), true)
  broken = false
  await t.rejects(open('required'), TlsRefused)
  const asked = server.received().split('STARTTLS').length - 1
  t.equal(asked, 3, 'it is asked for TLS again')
})

t.test('a host cannot have the handshake of TLS 1.2 made again and again', async (t) => {
  const asked = Promise.withResolvers<Error | null>()
  const server = await startTlsServer(
    t,
    {},
    {
      context: { ...right, maxVersion: 'TLSv1.2' },
      says: (line, socket) => {
        if (line !== 'NOOP') return undefined
        socket.once('close', () => asked.resolve(new Error('closed')))
        ;(socket as TLSSocket).renegotiate({ rejectUnauthorized: false }, asked.resolve)
        return undefined
      },
    },
  )
  const endpoint = { host: NAME, address: server.host, port: server.port }
  const memory = new HostMemory()
  const connection = await openSession(endpoint, { heloName: 'own.test', memory, steps: [], level: 'required' })
  t.teardown(() => connection.destroy())
  void connection.command('NOOP', 'rset', 5000).catch(() => {})
  t.ok((await asked.promise) instanceof Error)
})
