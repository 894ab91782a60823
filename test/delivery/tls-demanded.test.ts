import { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { makeAuthority, selfSigned } from './authority.ts'
import { startInternetProcess } from './outbox.ts'
import { startTlsServer, type TlsServerOptions } from './tls-server.ts'

const authority = await makeAuthority()
const internet = await startInternetProcess(t, { NODE_EXTRA_CA_CERTS: authority.file })

/** A mail host with a name, and what it was offered in plain text. */
async function startHost(t: Test, optionsOf: (name: string) => Promise<TlsServerOptions>) {
  const name = `mx.${internet.newName()}`
  const plain: string[] = []
  const offered: string[] = []
  const server = await startTlsServer(
    t,
    { host: internet.newAddress(), port: internet.port },
    {
      ...(await optionsOf(name)),
      says: (line, socket) => {
        const recipient = /^RCPT TO:<([^@]*)@/.exec(line)?.[1]
        if (recipient !== undefined) offered.push(recipient)
        if (recipient !== undefined && !(socket instanceof TLSSocket)) plain.push(recipient)
        return undefined
      },
    },
  )
  internet.dns.zones[name] = { a: [server.host] }
  return { name, plain, offered, server }
}

interface Told {
  readonly tls: string | null
  readonly tlsVerified: boolean | null
}
type Expected = Told | { readonly enhanced: string; readonly stage: string; readonly reply: RegExp }

const NO_TLS: Expected = {
  enhanced: '4.7.4',
  stage: 'starttls',
  reply: /^TLS is required, but was not offered by host mx/,
}
const REFUSED: Expected = { enhanced: '4.7.4', stage: 'starttls', reply: /refused to start TLS: 454 no TLS today/ }
const FAILED: Expected = { enhanced: '4.7.5', stage: 'tls', reply: /^TLS is required, but could not be started: / }
const plainText: Told = { tls: null, tlsVerified: null }
const verified: Told = { tls: 'TLSv1.3', tlsVerified: true }
const unverified: Told = { tls: 'TLSv1.3', tlsVerified: false }
const notValid = (code: string): Expected => ({
  ...FAILED,
  reply: new RegExp(`the server's certificate is not valid for mx\\S+ \\(${code}\\)`),
})

/** What becomes of a message without a demand, one that demands TLS, and one that demands a verified certificate. */
const HOSTS: Readonly<
  Record<string, readonly [(name: string) => Promise<TlsServerOptions>, Expected, Expected, Expected]>
> = {
  'a valid certificate': [async (name) => ({ context: await authority.issue([name]) }), verified, verified, verified],
  'a wildcard certificate': [
    async (name) => ({ context: await authority.issue([`*.${name.slice(3)}`]) }),
    verified,
    verified,
    verified,
  ],
  'TLS 1.2 only': [
    async (name) => ({ context: { ...(await authority.issue([name])), maxVersion: 'TLSv1.2' } }),
    { tls: 'TLSv1.2', tlsVerified: true },
    { tls: 'TLSv1.2', tlsVerified: true },
    { tls: 'TLSv1.2', tlsVerified: true },
  ],
  'an expired certificate': [
    async (name) => ({ context: await authority.issue([name], { expired: true }) }),
    unverified,
    unverified,
    notValid('CERT_HAS_EXPIRED'),
  ],
  'a certificate for another name': [
    async () => ({ context: await authority.issue(['other.example']) }),
    unverified,
    unverified,
    notValid('ERR_TLS_CERT_ALTNAME_INVALID'),
  ],
  'its name in the common name only': [
    async (name) => ({ context: await authority.issue([], { subject: name }) }),
    unverified,
    unverified,
    notValid('ERR_TLS_CERT_ALTNAME_INVALID'),
  ],
  'a partial wildcard': [
    async (name) => ({ context: await authority.issue([`m*.${name.slice(3)}`]) }),
    unverified,
    unverified,
    notValid('ERR_TLS_CERT_ALTNAME_INVALID'),
  ],
  'a self-signed certificate': [
    async (name) => ({ context: await selfSigned(name) }),
    unverified,
    unverified,
    notValid('DEPTH_ZERO_SELF_SIGNED_CERT'),
  ],
  'TLS 1.0 only': [
    async (name) => ({
      context: {
        ...(await authority.issue([name])),
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      },
    }),
    plainText,
    FAILED,
    FAILED,
  ],
  'no STARTTLS': [async () => ({}), plainText, NO_TLS, NO_TLS],
  'STARTTLS that it refuses': [
    async (name) => ({ context: await authority.issue([name]), refuses: '454 no TLS today\r\n' }),
    plainText,
    REFUSED,
    REFUSED,
  ],
  'a handshake that it cuts': [
    async (name) => ({ context: await authority.issue([name]), handshake: 'cut' }),
    plainText,
    FAILED,
    FAILED,
  ],
}
const LEVELS = ['opportunistic', 'required', 'verified'] as const

for (const [what, [options, ...expected]] of Object.entries(HOSTS)) {
  t.test(`a host with ${what} gets only mail that does not demand more`, async (t) => {
    const host = await startHost(t, options)
    const domain = internet.domain([host])
    const delivered: string[] = []
    for (const [at, level] of LEVELS.entries()) {
      const id = await internet.send(
        `${level}@${domain}`,
        level === 'opportunistic' ? {} : { settings: { tls: level } },
      )
      const wanted = expected[at] as Expected
      const isDelivered = 'tls' in wanted
      const delivery = await internet.attempted(id)
      const policy = level === 'opportunistic' ? null : level
      t.match(
        delivery.attempts,
        [
          {
            ...wanted,
            tlsPolicy: policy,
            ...(isDelivered ? { outcome: 'delivered' } : { outcome: 'deferred', code: null }),
          },
        ],
        level,
      )
      if (isDelivered) delivered.push(level)
    }
    t.strictSame(host.offered, delivered, 'nothing else was offered')
    t.strictSame(
      host.plain,
      delivered.filter(
        (level) => level === 'opportunistic' && 'tls' in (expected[0] as Told) && (expected[0] as Told).tls === null,
      ),
      'and nothing that demands TLS in plain text',
    )
  })
}

t.test('a host without the TLS that is demanded is passed over for the next one', async (t) => {
  const first = await startHost(t, async () => ({}))
  const second = await startHost(t, async (name) => ({ context: await authority.issue([name]) }))
  const delivery = await internet.inState(
    await internet.send(`a@${internet.domain([first, second])}`, { settings: { tls: 'verified' } }),
    'delivered',
  )
  t.match(delivery.attempts, [{ host: second.name, tlsPolicy: 'verified', tlsVerified: true }])
  t.strictSame(first.offered, [])
})

t.test('mail that demands TLS which cannot be had expires at its deadline, and is not bounced before', async (t) => {
  const host = await startHost(t, async () => ({}))
  const id = await internet.send(`a@${internet.domain([host])}`, { settings: { tls: 'required', deadline: 300 } })
  await internet.attempted(id, 1)
  await internet.advance(6)
  const delivery = await internet.inState(id, 'expired')
  for (const attempt of delivery.attempts) t.match(attempt, { outcome: 'deferred' })
  t.strictSame(host.offered, [])
})

t.test('a kept session serves no mail that demands more than it did', async (t) => {
  const host = await startHost(t, async (name) => ({ context: await authority.issue([name]) }))
  const domain = internet.domain([host])
  const sendAt = async (tls?: string) =>
    internet.inState(await internet.send(`a@${domain}`, tls ? { settings: { tls } } : {}), 'delivered')
  await sendAt()
  await sendAt()
  t.equal(host.server.sockets.length, 1, 'mail of one level shares sessions')
  await sendAt('verified')
  t.equal(host.server.sockets.length, 2)
  await sendAt('verified')
  t.equal(host.server.sockets.length, 2)
  await sendAt('required')
  t.equal(host.server.sockets.length, 3)
})

t.test('a host that lacks the TLS which is demanded gets other mail all the same', async (t) => {
  const host = await startHost(t, async () => ({}))
  const domain = internet.domain([host])
  const demanding = async () =>
    (await internet.attempted(await internet.send(`a@${domain}`, { settings: { tls: 'required' } }))).attempts
  for (let time = 0; time < 5; time++) t.match(await demanding(), [{ enhanced: '4.7.4' }])
  const contacted = host.server.sockets.length
  t.match(await demanding(), [
    { enhanced: '4.7.5', reply: /^not attempted: the hosts did not have the TLS that is required/ },
  ])
  t.equal(host.server.sockets.length, contacted, 'it is left alone for a while')
  const other = await internet.inState(await internet.send(`b@${domain}`), 'delivered')
  t.match(other.attempts, [{ outcome: 'delivered', tlsPolicy: null }])
})
