import { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { postrider } from '../cli/postrider.ts'
import { type IssuedCertificate, makeAuthority, selfSigned } from './authority.ts'
import { startInternetProcess, stepsOf } from './outbox.ts'
import { untilRulesRead } from './rules-read.ts'
import { startTlsServer, type TlsServerOptions } from './tls-server.ts'
import { tlsaOf } from './tlsa.ts'

const authority = await makeAuthority()
const other = await makeAuthority()
/** Names below it are not signed. */
const UNSIGNED = 'unsigned.example'
const internet = await startInternetProcess(
  t,
  { NODE_EXTRA_CA_CERTS: authority.file },
  { isSigned: (name) => !name.endsWith(UNSIGNED) },
)
const { dns } = internet
let hosts = 0

interface HostSetup {
  /** The records of its port. */
  readonly tlsa?: readonly string[] | ((certificate: IssuedCertificate) => readonly string[])
  readonly certificate?: (name: string) => Promise<IssuedCertificate>
  readonly tls?: Partial<TlsServerOptions>
  /** It does not offer STARTTLS. */
  readonly isPlain?: boolean
  readonly below?: string
}

/** A mail host with TLSA records, and the domains whose mail it was offered, by connection. */
async function startHost(
  t: Test,
  { tlsa = [], certificate = selfSigned, tls, isPlain = false, below = 'harbor.example' }: HostSetup,
) {
  const name = `mx${++hosts}.${below}`
  const made = await certificate(name)
  const sessions = new Map<object, Set<string>>()
  const plain: string[] = []
  const resumed: boolean[] = []
  const server = await startTlsServer(
    t,
    { host: internet.newAddress(), port: internet.port },
    {
      ...(isPlain ? {} : { context: made }),
      onSecure: (isResumed) => void resumed.push(isResumed),
      ...tls,
      says: (line, socket) => {
        const domain = /^RCPT TO:<[^@]*@([^>]*)>/.exec(line)?.[1]
        if (domain === undefined) return undefined
        sessions.set(socket, (sessions.get(socket) ?? new Set()).add(domain))
        if (!(socket instanceof TLSSocket)) plain.push(domain)
        return undefined
      },
    },
  )
  dns.zones[name] = { a: [server.host] }
  const publish = (records: readonly string[]): void => {
    dns.zones[tlsaName(name)] = { tlsa: records }
  }
  const records = typeof tlsa === 'function' ? tlsa(made) : tlsa
  if (records.length > 0) publish(records)
  return { name, made, plain, resumed, publish, server, groups: () => [...sessions.values()].map((all) => [...all]) }
}

const tlsaName = (name: string): string => `_${internet.port}._tcp.${name}`
/** Longer than records of one second are known, in a process with a clock of its own. */
const recordsExpired = () => new Promise((resolve) => setTimeout(resolve, 5500))
const attempt = async (domain: string, settings?: Record<string, unknown>) =>
  internet.attempted(await internet.send(`a@${domain}`, settings ? { settings } : {}))

const delivered = { outcome: 'delivered', tlsPolicy: 'dane', tlsOrigin: 'dane', tlsVerified: true }
const refused = (reply: RegExp) => ({ outcome: 'deferred', enhanced: '4.7.5', stage: 'tls', tlsPolicy: 'dane', reply })
const MISMATCH = refused(/not valid for \S+ \(it matches none of the TLSA records\)/)
const WRONG = `3 1 1 ${'ab'.repeat(32)}`

/** A certificate of the authority, which is sent with it. */
const issued =
  (names?: readonly string[], options = {}) =>
  async (name: string): Promise<IssuedCertificate> => {
    const made = await authority.issue(names ?? [name], options)
    return { ...made, cert: `${made.cert.trim()}\n${authority.cert}` }
  }
const expired = issued(undefined, { expired: true })
const ofOtherName = issued(['other.example'])
const authorityRecord = (selector: number, matching: number) => [tlsaOf(authority.cert, 2, selector, matching)]

const own = (selector: number, matching: number) => (certificate: IssuedCertificate) => [
  tlsaOf(certificate.cert, 3, selector, matching),
]
const every = [0, 1].flatMap((selector) => [0, 1, 2].map((matching) => [selector, matching] as const))

const MATRIX: Readonly<Record<string, readonly [HostSetup, Record<string, unknown>]>> = {
  ...Object.fromEntries(
    every.map(([selector, matching]) => [
      `3 ${selector} ${matching} of a self-signed certificate`,
      [{ tlsa: own(selector, matching) }, delivered],
    ]),
  ),
  '3 1 1 of an expired certificate': [{ tlsa: own(1, 1), certificate: expired }, delivered],
  '3 1 1 of a certificate for another name': [{ tlsa: own(1, 1), certificate: ofOtherName }, delivered],
  '3 1 1 of another key': [{ tlsa: [WRONG] }, MISMATCH],
  '3 1 1 of another key, and a certificate of a known authority': [{ tlsa: [WRONG], certificate: issued() }, MISMATCH],
  'two keys, one of which is in use': [{ tlsa: (made) => [WRONG, ...own(1, 1)(made)] }, delivered],
  'the right SHA-256 and the wrong SHA-512': [
    { tlsa: (made) => [...own(1, 1)(made), `3 1 2 ${'ab'.repeat(64)}`] },
    MISMATCH,
  ],
  ...Object.fromEntries(
    every
      .filter(([selector, matching]) => matching !== 0 || selector === 0)
      .map(([selector, matching]) => [
        `2 ${selector} ${matching} of the authority`,
        [{ tlsa: authorityRecord(selector, matching), certificate: issued() }, delivered],
      ]),
  ),
  '2 1 1, and an expired certificate': [
    { tlsa: authorityRecord(1, 1), certificate: expired },
    refused(/CERT_HAS_EXPIRED/),
  ],
  '2 1 1, and a certificate for another name': [
    { tlsa: authorityRecord(1, 1), certificate: ofOtherName },
    refused(/ERR_TLS_CERT_ALTNAME_INVALID/),
  ],
  '2 1 1 of an authority that is not sent': [
    { tlsa: authorityRecord(1, 1), certificate: (name) => authority.issue([name]) },
    MISMATCH,
  ],
  '2 1 1 of an authority that is sent, but has not signed': [
    {
      tlsa: authorityRecord(1, 1),
      certificate: async (name) => {
        const made = await other.issue([name])
        return { ...made, cert: `${made.cert.trim()}\n${authority.cert}` }
      },
    },
    refused(/UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|not valid for/),
  ],
  '2 1 1 of the certificate itself': [{ tlsa: ({ cert }) => [tlsaOf(cert, 2, 1, 1)] }, MISMATCH],
}

for (const [what, [setup, expected]] of Object.entries(MATRIX)) {
  t.test(`a host with the TLSA record ${what}`, async (t) => {
    const host = await startHost(t, setup)
    const domain = internet.domain([host])
    t.match((await attempt(domain)).attempts, [{ ...expected, host: host.name }])
    t.strictSame(host.plain, [])
    t.equal(host.groups().length, expected === delivered ? 1 : 0)
  })
}

t.test('the attempt shows the record that the certificate matches', async (t) => {
  const host = await startHost(t, { tlsa: own(1, 1) })
  const delivery = await attempt(internet.domain([host]))
  t.equal(stepsOf(delivery).find(({ step }) => step === 'dane')?.text, 'the certificate matches a TLSA record 3 1 1')
})

const UNUSABLE = [
  `0 1 1 ${'ab'.repeat(32)}`,
  `1 1 1 ${'ab'.repeat(32)}`,
  `4 1 1 ${'ab'.repeat(32)}`,
  `3 2 1 ${'ab'.repeat(32)}`,
  `3 1 3 ${'ab'.repeat(32)}`,
  `3 1 1 ${'ab'.repeat(31)}`,
  `3 1 2 ${'ab'.repeat(32)}`,
  `3 0 0 ${'ab'.repeat(100)}`,
  `3 1 0 ${'ab'.repeat(100)}`,
]

for (const record of UNUSABLE) {
  t.test(`a host whose only TLSA record is ${record.slice(0, 8)} gets mail over TLS only`, async (t) => {
    const host = await startHost(t, { tlsa: [record] })
    const delivery = await attempt(internet.domain([host]))
    t.match(delivery.attempts, [{ outcome: 'delivered', tls: 'TLSv1.3', tlsPolicy: 'required', tlsOrigin: 'dane' }])
    t.match(stepsOf(delivery).find(({ step }) => step === 'dane')?.text, /no TLSA record is usable/)
  })
}

t.test('a host whose TLSA records are all unusable gets no mail in plain text', async (t) => {
  const host = await startHost(t, { tlsa: UNUSABLE, isPlain: true })
  t.match((await attempt(internet.domain([host]))).attempts, [
    { outcome: 'deferred', enhanced: '4.7.4', tlsPolicy: 'required' },
  ])
  t.strictSame(host.groups(), [])
})

for (const [what, setup] of [
  ['does not offer STARTTLS', { isPlain: true }],
  ['refuses STARTTLS', { tls: { refuses: '454 no TLS today\r\n' } }],
  ['cuts the handshake', { tls: { handshake: 'cut' } }],
] as const) {
  t.test(`a host with TLSA records that ${what} gets nothing, although it got mail in plain text before`, async (t) => {
    const host = await startHost(t, setup)
    t.match((await attempt(internet.domain([host]))).attempts, [{ outcome: 'delivered', tls: null }], 'without records')
    host.publish([WRONG])
    await recordsExpired()
    t.match((await attempt(internet.domain([host]))).attempts, [{ outcome: 'deferred', tlsPolicy: 'dane' }])
    t.equal(host.groups().length, 1)
  })
}

t.test('the next host is tried when one does not have the certificate of its records', async (t) => {
  const [wrong, right] = [await startHost(t, { tlsa: [WRONG] }), await startHost(t, { tlsa: own(1, 1) })]
  const delivery = await attempt(internet.domain([wrong, right]))
  t.match(delivery.attempts, [{ ...delivered, host: right.name }])
  t.strictSame(wrong.groups(), [])
})

t.test('a host whose records cannot be looked up is not used, nor contacted', async (t) => {
  for (const fails of ['servfail', 'silence'] as const) {
    const host = await startHost(t, {})
    dns.zones[tlsaName(host.name)] = { fails }
    const { attempts } = await attempt(internet.domain([host]))
    t.match(attempts, [
      { outcome: 'deferred', enhanced: '4.7.5', reply: /the TLSA records of \S+ could not be looked up/ },
    ])
    t.equal(host.server.sockets.length, 0)
    const next = await startHost(t, { tlsa: own(1, 1) })
    t.match((await attempt(internet.domain([host, next]))).attempts, [{ ...delivered, host: next.name }])
  }
})

t.test('mail waits while the MX records are forged', async (t) => {
  const domain = internet.domain({ fails: 'servfail' })
  t.match((await attempt(domain)).attempts, [{ outcome: 'deferred', enhanced: '4.4.3', reply: /SERVFAIL/ }])
})

t.test('records say nothing where the MX record, the address or the records are not signed', async (t) => {
  const host = await startHost(t, { tlsa: [WRONG] })
  const unsigned = `d.${UNSIGNED}`
  dns.zones[unsigned] = { mx: [[10, host.name]] }
  t.match((await attempt(unsigned)).attempts, [{ outcome: 'delivered', tlsPolicy: null }], 'MX')
  const below = await startHost(t, { tlsa: [WRONG], below: UNSIGNED })
  const asked = dns.questions.length
  t.match((await attempt(internet.domain([below]))).attempts, [{ outcome: 'delivered', tlsPolicy: null }], 'address')
  t.notOk(
    dns.questions.slice(asked).some((question) => question.startsWith('TLSA')),
    'its name servers are not asked for records that they may not know',
  )
  const linked = await startHost(t, {})
  dns.zones[tlsaName(linked.name)] = { cname: `records.${UNSIGNED}` }
  dns.zones[`records.${UNSIGNED}`] = { tlsa: [WRONG] }
  t.match((await attempt(internet.domain([linked]))).attempts, [{ outcome: 'delivered', tlsPolicy: null }], 'records')
})

t.test('a domain without MX records is its own host with records', async (t) => {
  const host = await startHost(t, { tlsa: own(1, 1) })
  t.match((await attempt(host.name)).attempts, [{ ...delivered, host: host.name }])
})

t.test('records are those of the name that a CNAME record leads to, or of the host', async (t) => {
  const target = await startHost(t, { tlsa: own(1, 1) })
  const alias = (to: string): { name: string } => {
    const name = `alias${++hosts}.harbor.example`
    dns.zones[name] = { cname: to }
    return { name }
  }
  t.match((await attempt(internet.domain([alias(target.name)]))).attempts, [delivered], 'the target')
  const bare = await startHost(t, {})
  const first = alias(bare.name)
  dns.zones[tlsaName(first.name)] = { tlsa: [WRONG] }
  t.match((await attempt(internet.domain([first]))).attempts, [MISMATCH], 'the host, if the target has none')
  const unsigned = await startHost(t, { tlsa: own(1, 1), below: UNSIGNED })
  const signed = alias(unsigned.name)
  dns.zones[tlsaName(signed.name)] = { tlsa: [WRONG] }
  t.match((await attempt(internet.domain([signed]))).attempts, [MISMATCH], 'a signed alias of an unsigned target')
  t.match((await attempt(internet.domain([alias(unsigned.name)]))).attempts, [
    { outcome: 'delivered', tlsPolicy: null },
  ])
})

t.test('the certificate of an authority may also be for the domain, whose sessions are its own', async (t) => {
  const domain = internet.newName()
  const host = await startHost(t, { tlsa: authorityRecord(1, 1), certificate: issued([domain]) })
  dns.zones[domain] = { mx: [[10, host.name]] }
  t.match((await attempt(domain)).attempts, [delivered])
  const another = internet.domain([host])
  t.match((await attempt(another)).attempts, [refused(/ERR_TLS_CERT_ALTNAME_INVALID/)])
  t.strictSame(host.groups(), [[domain]])
})

t.test('sessions are resumed and kept only under the same records', async (t) => {
  const host = await startHost(t, { tlsa: own(1, 1) })
  const [one, two] = [internet.domain([host]), internet.domain([host])]
  t.match((await attempt(one)).attempts, [delivered])
  host.publish([WRONG])
  await recordsExpired()
  t.match((await attempt(two)).attempts, [MISMATCH], 'another domain with the same host')
  t.notOk(host.resumed.slice(1).includes(true), 'no ticket of the session before was offered')
  host.publish(own(1, 1)(host.made))
  await recordsExpired()
  t.match((await attempt(internet.domain([host]))).attempts, [delivered])
})

t.test('a demand of dane is met by records only', async (t) => {
  const [without, withRecords, unusable] = [
    await startHost(t, { certificate: issued() }),
    await startHost(t, { tlsa: own(1, 1) }),
    await startHost(t, { tlsa: UNUSABLE, certificate: issued() }),
  ]
  const demand = { tls: 'dane' }
  t.match((await attempt(internet.domain([without]), demand)).attempts, [
    refused(/has no TLSA record that DNSSEC protects/),
  ])
  t.match((await attempt(internet.domain([unusable]), demand)).attempts, [refused(/has no usable TLSA record/)])
  t.match((await attempt(internet.domain([withRecords]), demand)).attempts, [{ ...delivered, tlsOrigin: 'message' }])
  const domain = internet.domain([without])
  t.equal((await postrider(internet.service.env, 'tls', 'set', domain, 'dane')).code, 0)
  await untilRulesRead(t, internet)
  t.match((await attempt(domain)).attempts, [refused(/DANE is required/)])
  t.equal(without.server.sockets.length, 0)
})

t.test('a demand of a valid certificate is met by a certificate that matches the records', async (t) => {
  const host = await startHost(t, { tlsa: own(1, 1) })
  t.match((await attempt(internet.domain([host]), { tls: 'verified' })).attempts, [delivered])
})

t.test('forty records are read over TCP, of which 32 count', async (t) => {
  const many = Array.from({ length: 40 }, (_, at) => `3 1 1 ${at.toString(16).padStart(64, 'f')}`)
  const host = await startHost(t, { tlsa: (made) => [...many, ...own(1, 2)(made)] })
  t.match((await attempt(internet.domain([host]))).attempts, [delivered], 'SHA-512 counts before SHA-256')
  const wrong = await startHost(t, { tlsa: many })
  t.match((await attempt(internet.domain([wrong]))).attempts, [MISMATCH])
})

t.test('tls show shows the records of the hosts', async (t) => {
  const host = await startHost(t, { tlsa: own(1, 1) })
  const bare = await startHost(t, {})
  const { stdout } = await postrider(internet.service.env, 'tls', 'show', internet.domain([host, bare]))
  t.match(stdout, /^DNSSEC_RESOLVER validates$/m)
  t.match(stdout, new RegExp(`^${host.name} +TLSA 3 1 1 [0-9a-f]{16}…$`, 'm'))
  t.match(stdout, new RegExp(`^${bare.name} +no TLSA records$`, 'm'))
})
