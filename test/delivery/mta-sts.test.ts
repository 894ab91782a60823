import '../helpers/policy-port.ts'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createLog, isListed } from '@postrider/core'
import { validateMx } from 'mailauth/lib/mta-sts.js'
import t, { type Test } from 'tap'
import { createStsPolicies, type StsPolicies } from '../../packages/core/src/delivery/tls/sts-policies.ts'
import { moveClock } from '../helpers/database.ts'
import { startDns } from '../helpers/dns.ts'
import { isInTime } from '../helpers/pace.ts'
import { freePorts } from '../helpers/ports.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { makeAuthority, selfSigned } from './authority.ts'
import { type PolicyHostOptions, startPolicyHost, textOf } from './policy-host.ts'

const authority = await makeAuthority()
const trusted = getCACertificates()
setDefaultCACertificates([...trusted, authority.cert])
t.teardown(() => setDefaultCACertificates(trusted))
const dns = await startDns(t, {})
const [port = 0] = await freePorts(1)
process.env.POLICY_PORT = String(port)
const service = await makeService(t)
const { sql } = service
let names = 0

/** What a process knows that has just started. */
function policies(allowPrivateMx = true): StsPolicies {
  return createStsPolicies({
    sql,
    log: createLog('test', 'silent'),
    config: { dnsServers: [dns.address], allowPrivateMx },
  })
}

async function startDomain(t: Test, options: Partial<PolicyHostOptions> = {}) {
  const domain = `d${++names}.example`
  const address = `127.7.${names >> 8}.${names & 255}`
  const host = await startPolicyHost(t, domain, { dns, authority, address, port, ...options })
  return { domain, host, stored: () => policies().stored(domain) }
}

const enforced = (domain: string) => ({ mode: 'enforce', mx: [`*.${domain}`] })

t.test('the policy of a domain is fetched once, and is in effect for all processes', async (t) => {
  const { domain, host, stored } = await startDomain(t)
  const own = policies()
  const calls = await Promise.all([own.policyOf(domain), own.policyOf(domain), own.policyOf(domain)])
  for (const policy of calls) t.strictSame(policy, enforced(domain), 'calls at once share it')
  t.strictSame(await policies().policyOf(domain), enforced(domain))
  t.equal(host.requests, 1)
  const row = await stored()
  t.match(row, { policyId: '1', mode: 'enforce', error: null })
  t.ok(Math.abs((row?.left ?? 0) - 604_800_000) < 60_000)
})

t.test('a domain without a TXT record, or with two, has no policy, and its policy host is not asked', async (t) => {
  const { domain, host } = await startDomain(t)
  const [own] = dns.zones[`_mta-sts.${domain}`]?.txt ?? []
  for (const txt of [[], [own as string, 'v=STSv1; id=2;'], ['v=STSv1; id=not an id;'], ['v=STSv2; id=1;']]) {
    dns.zones[`_mta-sts.${domain}`] = { txt }
    t.equal(await policies().policyOf(domain), undefined)
  }
  delete dns.zones[`_mta-sts.${domain}`]
  t.equal(await policies().policyOf(domain), undefined)
  t.equal(host.requests, 0)
  dns.zones[`_mta-sts.${domain}`] = { txt: ['unrelated', own as string] }
  t.strictSame(await policies().policyOf(domain), enforced(domain), 'other records do not count')
})

const okay = { 'content-type': 'text/plain' }
const someMx = (count: number) => Array.from({ length: count }, (_, at) => `mx${at}.example.net`)
const policyOf = (mx: readonly string[], maxAge = 600) => textOf({ mode: 'enforce', mx, maxAge })

/** Why the policy of such a host is not fetched. */
const FAILURES: Readonly<
  Record<string, readonly [Partial<PolicyHostOptions> | (() => Promise<Partial<PolicyHostOptions>>), RegExp]>
> = {
  'a self-signed certificate': [async () => ({ certificate: await selfSigned('mta-sts.example') }), /trusted TLS/],
  'a certificate for another name': [
    async () => ({ certificate: await authority.issue(['example.net']) }),
    /trusted TLS/,
  ],
  'an expired certificate': [
    async () => ({ certificate: await authority.issue([`mta-sts.d${names + 1}.example`], { expired: true }) }),
    /trusted TLS.*EXPIRED/,
  ],
  'a redirect': [
    { respond: (_request, response) => response.writeHead(301, { location: 'https://example.net/' }).end() },
    /status 301/,
  ],
  'no policy': [{ respond: (_request, response) => response.writeHead(404, okay).end() }, /status 404/],
  'a megabyte': [
    {
      respond: (_request, response) =>
        response.writeHead(200, okay).end(`${policyOf(['a.example'])}${'x'.repeat(1024 * 1024)}`),
    },
    /longer than 32768 bytes/,
  ],
  'a policy that it cuts': [
    {
      respond: (_request, response) => {
        response.writeHead(200, { ...okay, 'content-length': '1000' }).write(policyOf(['a.example']))
        setTimeout(() => response.destroy(), 50)
      },
    },
    /connection closed/,
  ],
  'a policy that does not end': [
    { respond: (_request, response) => void response.writeHead(200, okay).write(policyOf(['a.example'])) },
    /incomplete/,
  ],
  'another media type': [
    {
      respond: (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(policyOf(['a.example'])),
    },
    /not text\/plain/,
  ],
  'more than 100 mx lines': [
    { respond: (_request, response) => response.writeHead(200, okay).end(policyOf(someMx(101))) },
    /more than 100 mx lines/,
  ],
  'a max_age of more than a year': [
    { respond: (_request, response) => response.writeHead(200, okay).end(policyOf(['a.example'], 31_557_601)) },
    /Invalid max_age/,
  ],
  'an invalid name': [
    { respond: (_request, response) => response.writeHead(200, okay).end(policyOf(['a_b.example'])) },
    /Invalid mx/,
  ],
  'no mode': [
    { respond: (_request, response) => response.writeHead(200, okay).end('version: STSv1\nmax_age: 5\n') },
    /mode/,
  ],
  'a thousand interim responses': [
    {
      respond: (request, response) => {
        for (let sent = 0; sent < 1000; sent++) request.socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
        response.writeHead(200, okay).end(policyOf(['a.example']))
      },
    },
    /interim/,
  ],
}

for (const [what, [options, error]] of Object.entries(FAILURES)) {
  t.test(`a policy host with ${what} counts as none, and is requested again after five minutes`, async (t) => {
    const { domain, host, stored } = await startDomain(t, typeof options === 'function' ? await options() : options)
    t.equal(await policies().policyOf(domain), undefined)
    const row = await stored()
    t.match(row?.error, error)
    t.ok(Math.abs((row?.retryIn ?? 0) - 300_000) < 30_000)
    const { requests } = host
    const questions = dns.questions.length
    t.equal(await policies().policyOf(domain), undefined)
    t.equal(host.requests, requests, 'another process does not ask it meanwhile')
    t.equal(dns.questions.length, questions, 'and waits for nothing')
    const own = policies()
    await own.policyOf(domain)
    await own.policyOf(domain)
    await until('the question of a process that goes on', () => dns.questions.length > questions)
    await new Promise((resolve) => setTimeout(resolve, 50))
    t.equal(host.requests, requests, 'which does not ask the policy host either')
  })
}

t.test('a policy with 100 names is used', async (t) => {
  const { domain } = await startDomain(t, {
    respond: (_request, response) => void response.writeHead(200, okay).end(policyOf(someMx(100))),
  })
  t.equal((await policies().policyOf(domain))?.mx.length, 100)
})

t.test('a policy host on a private network is not asked, unless MX_PRIVATE_NETWORKS allows it', async (t) => {
  const { domain, host, stored } = await startDomain(t)
  t.equal(await policies(false).policyOf(domain), undefined)
  t.match((await stored())?.error, /private or otherwise blocked address/)
  t.equal(host.requests, 0)
})

t.test('after each failure the time until the next one is doubled, up to a day', async (t) => {
  const { domain, stored } = await startDomain(t, {
    respond: (_request, response) => void response.writeHead(500).end(),
  })
  const delays: number[] = []
  let minutes = 0
  for (let failure = 1; failure <= 10; failure++) {
    t.equal(await policies().policyOf(domain), undefined)
    const delay = Math.round(((await stored())?.retryIn ?? 0) / 60_000)
    delays.push(delay)
    minutes += delay + 1
    await moveClock(sql, `${minutes} minutes`)
  }
  t.strictSame(delays, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440])
  await moveClock(sql, '0')
})

t.test('a policy stands until it expires, whatever becomes of the record and the policy host', async (t) => {
  const { domain, host, stored } = await startDomain(t)
  await policies().policyOf(domain)
  delete dns.zones[`_mta-sts.${domain}`]
  t.strictSame(await policies().policyOf(domain), enforced(domain), 'the record is gone')
  dns.zones[`_mta-sts.${domain}`] = { fails: 'servfail' }
  t.strictSame(await policies().policyOf(domain), enforced(domain), 'the DNS fails')
  host.publish({ id: '2', mode: 'none' })
  await host.close()
  const own = policies()
  for (let time = 0; time < 2; time++) t.strictSame(await own.policyOf(domain), enforced(domain), 'the host is gone')
  await until('the attempt to fetch it', async () => (await stored())?.error)
  t.match(await stored(), { policyId: '1', mode: 'enforce' })
  t.strictSame(await policies().policyOf(domain), enforced(domain))
  await moveClock(sql, '8 days')
  t.equal(await policies().policyOf(domain), undefined, 'it has expired')
  await moveClock(sql, '0')
})

for (const [what, zone] of [
  ['is gone', undefined],
  ['cannot be looked up', { fails: 'servfail' }],
  ['is invalid', { txt: ['v=STSv1; id=;'] }],
] as const) {
  t.test(`a policy applies in a running process when its record ${what}`, async (t) => {
    const { domain } = await startDomain(t)
    const own = policies()
    await own.policyOf(domain)
    await own.policyOf(domain)
    if (zone) dns.zones[`_mta-sts.${domain}`] = zone
    else delete dns.zones[`_mta-sts.${domain}`]
    const other = policies()
    const questions = () => dns.questions.filter((question) => question === `TXT _mta-sts.${domain}`).length
    const before = questions()
    // The second call renews the answer in the background.
    for (let time = 0; time < 2; time++) t.strictSame(await other.policyOf(domain), enforced(domain))
    await until('the question', () => questions() > before)
    await new Promise((resolve) => setTimeout(resolve, 200))
    t.strictSame(await other.policyOf(domain), enforced(domain))
  })
}

t.test('a policy that expires in a running process is fetched before the next message, or is none', async (t) => {
  const { domain, host } = await startDomain(t, { policy: { maxAge: 600 } })
  const own = policies()
  const { now } = performance
  /** Moves the clocks of this process and of the service. */
  const move = async (minutes: number): Promise<void> => {
    const value = () => now.call(performance) + minutes * 60_000
    Object.defineProperty(performance, 'now', { value, configurable: true })
    await moveClock(sql, `${minutes} minutes`)
  }
  t.teardown(() => move(0))
  t.strictSame(await own.policyOf(domain), enforced(domain))
  await move(11)
  t.strictSame(await own.policyOf(domain), enforced(domain))
  t.equal(host.requests, 2)
  await host.close()
  await move(22)
  t.equal(await own.policyOf(domain), undefined)
})

t.test('a new id replaces the policy, and the mode none ends it', async (t) => {
  const { domain, host } = await startDomain(t)
  await policies().policyOf(domain)
  const becomes = async (policy: Parameters<typeof host.publish>[0], expected: unknown) => {
    host.publish(policy)
    const own = policies()
    await until('the new policy', async () => {
      return JSON.stringify((await own.policyOf(domain)) ?? null) === JSON.stringify(expected)
    })
    t.same((await policies().policyOf(domain)) ?? null, expected)
  }
  await becomes({ id: '2', mx: ['mx.example.net'] }, { mode: 'enforce', mx: ['mx.example.net'] })
  await becomes({ id: '3', mode: 'testing' }, { mode: 'testing', mx: ['mx.example.net'] })
  await becomes({ id: '4', mode: 'none', mx: [] }, null)
  t.equal(host.requests, 4, 'and an id that is known is not fetched')
})

t.test('a slow policy host holds up its own domain for ten seconds once, and no other', async (t) => {
  const slow = await startDomain(t, { respond: () => {} })
  const quick = await startDomain(t)
  const own = policies()
  const record = dns.zones[`_mta-sts.${slow.domain}`] ?? {}
  // The DNS takes some seconds of them: its first answer is lost.
  dns.zones[`_mta-sts.${slow.domain}`] = { fails: 'silence' }
  setTimeout(() => {
    dns.zones[`_mta-sts.${slow.domain}`] = record
  }, 1000)
  const since = performance.now()
  const waiting = own.policyOf(slow.domain)
  const first = await Promise.race([waiting.then(() => 'slow'), own.policyOf(quick.domain).then(() => 'quick')])
  t.equal(first, 'quick', 'the other domain does not wait')
  t.equal(await waiting, undefined)
  const waited = performance.now() - since
  t.ok(waited > 9000 && isInTime(since, 12_000), `${Math.round(waited)} ms`)
  const again = performance.now()
  t.equal(await own.policyOf(slow.domain), undefined)
  t.ok(isInTime(again, 1000), 'not again')
  await until('the failure', async () => (await slow.stored())?.error)
  const later = performance.now()
  t.equal(await policies().policyOf(slow.domain), undefined)
  t.ok(isInTime(later, 1000), 'nor in another process')
})

t.test('a policy that is in use is fetched again each day, one that is not stays as it is', async (t) => {
  const { domain, host, stored } = await startDomain(t)
  const own = policies()
  await own.policyOf(domain)
  const refresh = () => own.refreshDue({ limit: 1000, signal: new AbortController().signal })
  await refresh()
  t.equal(host.requests, 1, 'it is fresh')
  host.publish({ maxAge: 864_000 })
  await moveClock(sql, '25 hours')
  t.ok((await refresh()) >= 1)
  t.equal(host.requests, 2)
  t.ok(((await stored())?.left ?? 0) > 863_000_000, 'and lasts longer')
  await moveClock(sql, '9 days')
  await refresh()
  t.equal(host.requests, 2, 'not used within seven days')
  await moveClock(sql, '60 days')
  while ((await own.forgetOld()) > 0);
  t.equal(await stored(), undefined)
  await moveClock(sql, '0')
})

t.test('hosts are compared with a policy as mailauth compares them', async (t) => {
  const hosts = ['mx.example.com', 'example.com', 'a.mx.example.com', 'mx.example.org', 'xmx.example.com', 'localhost']
  const patterns = [
    'mx.example.com',
    '*.example.com',
    '*.mx.example.com',
    'example.com',
    '*.com',
    '*.example.org',
    'localhost',
  ]
  for (const host of hosts) {
    for (const pattern of patterns) {
      const { valid } = validateMx(host, { mode: 'enforce', mx: [pattern] })
      t.equal(isListed(host, [pattern]), valid, `${host} by ${pattern}`)
    }
  }
})
