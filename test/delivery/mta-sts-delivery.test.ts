import { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { answered, postrider } from '../cli/postrider.ts'
import { freePorts } from '../helpers/ports.ts'
import { makeAuthority, selfSigned } from './authority.ts'
import { startInternetProcess, stepsOf } from './outbox.ts'
import { type Published, startPolicyHost } from './policy-host.ts'
import { startTlsServer, type TlsServerOptions } from './tls-server.ts'

const authority = await makeAuthority()
const [policyPort = 0] = await freePorts(1)
const internet = await startInternetProcess(t, {
  NODE_EXTRA_CA_CERTS: authority.file,
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('../helpers/policy-port.ts', import.meta.url))}`,
  POLICY_PORT: String(policyPort),
})
let hosts = 0

/** A mail host, and the domains whose mail each of its connections was offered. */
async function startHost(t: Test, optionsOf?: (name: string) => Promise<TlsServerOptions>) {
  const name = `mx${++hosts}.harbor.example`
  const options = optionsOf ? await optionsOf(name) : { context: await authority.issue([name]) }
  const sessions = new Map<object, Set<string>>()
  const plain: string[] = []
  const server = await startTlsServer(
    t,
    { host: internet.newAddress(), port: internet.port },
    {
      ...options,
      says: (line, socket) => {
        const domain = /^RCPT TO:<[^@]*@([^>]*)>/.exec(line)?.[1]
        if (domain === undefined) return undefined
        sessions.set(socket, (sessions.get(socket) ?? new Set()).add(domain))
        if (!(socket instanceof TLSSocket)) plain.push(domain)
        return undefined
      },
    },
  )
  internet.dns.zones[name] = { a: [server.host] }
  return { name, plain, groups: () => [...sessions.values()].map((domains) => [...domains].sort()), server }
}

async function domainWith(t: Test, mail: readonly { readonly name: string }[], policy?: Partial<Published>) {
  const domain = internet.domain(mail)
  if (policy === undefined) return domain
  const address = internet.newAddress()
  await startPolicyHost(t, domain, { dns: internet.dns, authority, address, port: policyPort, policy })
  return domain
}

const delivered = async (domain: string, settings?: Record<string, unknown>) =>
  internet.inState(await internet.send(`a@${domain}`, settings ? { settings } : {}), 'delivered')

t.test('mail to a domain that enforces MTA-STS goes to the listed host with a valid certificate only', async (t) => {
  const [unlisted, unverifiable, right] = [
    await startHost(t),
    await startHost(t, async (name) => ({ context: await selfSigned(name) })),
    await startHost(t),
  ]
  const mx = [unverifiable.name, right.name]
  const domain = await domainWith(t, [unlisted, unverifiable, right], { mx })
  const { attempts } = await delivered(domain)
  t.match(attempts, [{ host: right.name, tls: 'TLSv1.3', tlsPolicy: 'sts', tlsOrigin: 'mta-sts', tlsVerified: true }])
  t.strictSame([...unlisted.groups(), ...unverifiable.groups()], [])
  t.equal(unlisted.server.sockets.length, 0, 'the host that is not listed was not even contacted')
})

for (const [what, options, enhanced] of [
  ['without TLS', async () => ({}), '4.7.4'],
  ['with a self-signed certificate', async (name: string) => ({ context: await selfSigned(name) }), '4.7.5'],
  [
    'with a certificate for another name',
    async () => ({ context: await authority.issue(['mx.example.net']) }),
    '4.7.5',
  ],
] as const) {
  t.test(`mail to a domain that enforces MTA-STS waits while its only host is one ${what}`, async (t) => {
    const host = await startHost(t, options)
    const domain = await domainWith(t, [host], { mx: [host.name] })
    const delivery = await internet.inState(await internet.send(`a@${domain}`), 'deferred')
    t.match(delivery.attempts, [{ enhanced, tlsPolicy: 'sts', host: host.name }])
    t.strictSame(host.groups(), [])
  })
}

t.test('mail waits while the policy lists none of the hosts', async (t) => {
  const host = await startHost(t)
  const domain = await domainWith(t, [host], { mx: ['mx.example.net'] })
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'deferred')
  t.match(delivery.attempts, [{ stage: 'mx', enhanced: '4.7.5', reply: /lists none of its mail hosts/ }])
  t.equal(host.server.sockets.length, 0)
})

t.test('under a policy in testing mode mail is delivered, and the attempt says what was not right', async (t) => {
  const unlisted = await startHost(t)
  const unverifiable = await startHost(t, async (name) => ({ context: await selfSigned(name) }))
  const plain = await startHost(t, async () => ({}))
  const right = await startHost(t)
  for (const [host, problem] of [
    [unlisted, 'testing: the policy does not list this host'],
    [unverifiable, 'testing: the certificate is not valid for this host'],
    [plain, 'testing: no TLS'],
    [right, undefined],
  ] as const) {
    const mx = [host === unlisted ? 'mx.example.net' : host.name]
    const delivery = await delivered(await domainWith(t, [host], { mode: 'testing', mx }))
    t.equal(delivery.attempts[0]?.tlsPolicy, null)
    t.equal(stepsOf(delivery).find(({ step }) => step === 'mta-sts')?.text, problem)
  }
})

t.test('domains with the same hosts and different policies share no session', async (t) => {
  const [first, second] = [await startHost(t), await startHost(t)]
  const both = [first, second]
  const onFirst = await domainWith(t, both, { mx: [first.name] })
  const onSecond = await domainWith(t, both, { mx: [second.name] })
  const anyOf = await domainWith(t, both, { mx: ['*.harbor.example'] })
  const alsoAny = await domainWith(t, both, { mx: [first.name, second.name] })
  const testing = await domainWith(t, both, { mode: 'testing', mx: [first.name] })
  const none = await domainWith(t, both)
  const domains = [onFirst, onSecond, anyOf, alsoAny, testing, none]
  const ids: string[] = []
  for (let round = 0; round < 6; round++) {
    for (const domain of domains) ids.push(await internet.send(`r${round}@${domain}`))
  }
  for (const id of ids) await internet.inState(id, 'delivered')
  const isUnder = (domain: string) =>
    domain === onFirst || domain === onSecond ? domain : domain === anyOf || domain === alsoAny ? 'any' : 'none'
  for (const group of [...first.groups(), ...second.groups()]) {
    t.equal(new Set(group.map(isUnder)).size, 1, group.join(' '))
  }
  const offered = (host: typeof first) => new Set(host.groups().flat())
  t.notOk(offered(first).has(onSecond))
  t.notOk(offered(second).has(onFirst))
  t.ok([...first.groups(), ...second.groups()].length < ids.length, 'but sessions are kept')
})

t.test('a demand of the message is met at the hosts that the policy lists', async (t) => {
  const host = await startHost(t)
  const domain = await domainWith(t, [host], { mx: [host.name] })
  for (const tls of ['required', 'verified'])
    t.match((await delivered(domain, { tls })).attempts, [{ tlsPolicy: 'sts', tlsVerified: true }])
})

t.test('tls show tells rules, policy and hosts of a domain', async (t) => {
  const [listed, unlisted] = [await startHost(t), await startHost(t)]
  const domain = await domainWith(t, [listed, unlisted], { mx: [listed.name] })
  const { env } = internet.service
  const show = async () => (await postrider(env, 'tls', 'show', domain)).stdout
  t.match(await show(), /^no TLS rules\n\nno MTA-STS policy was fetched\n/)
  await delivered(domain)
  await postrider(env, 'tls', 'set', domain, 'required')
  const text = await show()
  t.match(text, new RegExp(`^${domain} +all +required$`, 'm'))
  t.match(text, new RegExp(`^MTA-STS: enforce until 20\\S+, hosts ${listed.name}$`, 'm'))
  t.match(text, new RegExp(`^${listed.name} +listed\n${unlisted.name} +not listed$`, 'm'))
  t.match(await answered(env, 'tls', 'show', domain), {
    domain,
    isInEffect: true,
    policy: { mode: 'enforce', error: null },
    hosts: [{ isListed: true }, { isListed: false }],
  })
  t.match(await postrider(env, 'tls', 'show', 'all'), { code: 2, stderr: /"tls list" lists the rules/ })
  t.match(await postrider(env, 'tls', 'show'), { code: 2, stderr: /missing argument: domain/ })
})
