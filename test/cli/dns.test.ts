import t from 'tap'
import { type DnsServer, startDns } from '../helpers/dns.ts'
import { makeService } from '../helpers/service.ts'
import { publishSource } from '../helpers/source-zones.ts'
import { answered, postrider } from './postrider.ts'

interface Plan {
  readonly records: { purpose: string; type: string; host: string; expected: string; found: string[]; state: string }[]
  readonly notes: string[]
}

async function start(test: Parameters<typeof makeService>[0], settings: Record<string, string> = {}) {
  const dns = await startDns(test, {})
  const service = await makeService(test, {
    DELIVERY: 'mx',
    DNS_SERVERS: dns.address,
    BLOCK_LISTS: 'none',
    HELO_NAME: 'mail.service.example',
    RETURN_PATH_HOST: 'bounces.service.example',
    PUBLIC_URL: 'https://click.service.example',
    ...settings,
  })
  return { dns, ...service }
}

function publishAll({ zones }: DnsServer): void {
  zones['bounces.service.example'] = { mx: [[10, 'mail.service.example']], txt: ['v=spf1 ip4:45.0.0.0/24 ~all'] }
  zones['mail.service.example'] = { ...zones['mail.service.example'], a: ['45.0.0.1'] }
  zones['any-domain._report._dmarc.bounces.service.example'] = { txt: ['v=DMARC1;'] }
  zones['click.service.example'] = { a: ['45.0.0.200'] }
}

t.test('with sources, every record that they need is shown with its state', async (t) => {
  const { env, dns, core } = await start(t)
  await core.sources.add({
    name: 'mta-1',
    address: '45.0.0.1',
    address6: '2a01:4f8::25',
    helo: 'mta-1.service.example',
    force: true,
  })
  await core.sources.add({ name: 'mta-2', address: '45.0.0.2', helo: 'mta-2.service.example', force: true })
  const { code, stdout, stderr } = await postrider(env, 'dns')
  t.equal(code, 1)
  t.match(stderr, /10 of 10 records are missing or wrong/)
  const zone = stdout.split('zone file:\n\n')[1]?.trim().split('\n')
  t.strictSame(zone?.toSorted(), [
    '*._report._dmarc.bounces.service.example. 3600 IN TXT "v=DMARC1;"',
    '1.0.0.45.in-addr.arpa. 3600 IN PTR mta-1.service.example.',
    '2.0.0.45.in-addr.arpa. 3600 IN PTR mta-2.service.example.',
    '5.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.f.4.0.1.0.a.2.ip6.arpa. 3600 IN PTR mta-1.service.example.',
    'bounces.service.example. 3600 IN MX 10 mail.service.example.',
    'bounces.service.example. 3600 IN TXT "v=spf1 ip4:45.0.0.1 ip6:2a01:4f8::25 ip4:45.0.0.2 ~all"',
    'mta-1.service.example. 3600 IN A 45.0.0.1',
    'mta-1.service.example. 3600 IN AAAA 2a01:4f8::25',
    'mta-2.service.example. 3600 IN A 45.0.0.2',
  ])
  for (const [address, helo] of [
    ['45.0.0.1', 'mta-1'],
    ['2a01:4f8::25', 'mta-1'],
    ['45.0.0.2', 'mta-2'],
  ] as const) {
    publishSource(dns, address, `${helo}.service.example`)
  }
  publishAll(dns)
  t.match(await postrider(env, 'dns'), {
    code: 1,
    stdout: /^SPF .* wrong +does not permit 2a01:4f8::25 \(softfail\)$/m,
  })
  dns.zones['bounces.service.example'] = {
    mx: [[10, 'mail.service.example']],
    txt: ['v=spf1 ip4:45.0.0.0/24 ip6:2a01:4f8::/32 ~all'],
  }
  const { records, notes } = await answered<Plan>(env, 'dns')
  t.strictSame([...new Set(records.map(({ state }) => state))], ['right'])
  t.strictSame(notes, [])
  t.match(await postrider(env, 'dns'), { code: 0, stderr: '' })
})

t.test('without sources, the address of HELO_NAME is assumed', async (t) => {
  const { env, dns } = await start(t)
  const plan = async () => {
    const { code, stdout } = await postrider(env, 'dns', '--json')
    return { code, ...(JSON.parse(stdout) as Plan) }
  }
  const { code, records, notes } = await plan()
  t.equal(code, 1)
  t.match(
    records.map(({ type, host, state }) => `${type} ${host} ${state}`),
    [
      'A mail.service.example missing',
      'MX bounces.service.example missing',
      'TXT bounces.service.example missing',
      'A click.service.example missing',
    ],
  )
  t.match(notes, [/^no sources: .* mail\.service\.example/])
  publishAll(dns)
  t.match(
    (await plan()).records.find(({ type }) => type === 'PTR'),
    {
      host: '1.0.0.45.in-addr.arpa',
      expected: 'mail.service.example',
      state: 'missing',
    },
  )
  publishSource(dns, '45.0.0.1', 'mail.service.example')
  t.equal((await plan()).code, 0)
  publishSource(dns, '45.0.0.1', 'other.service.example')
  t.match(
    (await plan()).records.find(({ type }) => type === 'PTR'),
    { state: 'wrong', found: ['other.service.example'] },
  )
})

t.test('a return path needs a host that accepts mail', async (t) => {
  const { env, dns } = await start(t)
  const returnPath = async () => (await answeredPlan(env)).records.find(({ purpose }) => purpose === 'returnPath')
  dns.zones['bounces.service.example'] = { mx: [[0, '.']] }
  t.match(await returnPath(), { state: 'wrong', problem: /null MX/ })
  dns.zones['bounces.service.example'] = { mx: [[10, 'nowhere.service.example']] }
  t.match(await returnPath(), { state: 'wrong', problem: /nowhere\.service\.example has no address/ })
  dns.zones['bounces.service.example'] = { a: ['45.0.0.9'] }
  t.match(await returnPath(), { state: 'right', found: ['45.0.0.9'] }, 'without MX records, the host itself')
})

t.test('a DNS that does not answer is unknown, and no record is reported as missing', async (t) => {
  const { env, dns } = await start(t)
  publishAll(dns)
  for (const name of ['bounces', 'click', 'mail']) dns.zones[`${name}.service.example`] = { fails: 'servfail' }
  const { records } = await answeredPlan(env)
  t.match(
    records.slice(-4, -1).map(({ state }) => state),
    ['unknown', 'unknown', 'unknown'],
  )
  t.match(records[0], { purpose: 'helo', host: 'mail.service.example', state: 'unknown' })
  t.match(await postrider(env, 'dns'), { code: 1, stderr: /records could not be looked up/ })
  dns.zones['bounces.service.example'] = { mx: [[10, 'mail.service.example']] }
  const returnPath = async () => (await answeredPlan(env)).records.find(({ purpose }) => purpose === 'returnPath')
  t.match(await returnPath(), { state: 'unknown' }, 'the host may have an address')
})

t.test('SPF must also permit smart hosts and the relay host, whose addresses are not known', async (t) => {
  const { env, core, dns } = await start(t, { DELIVERY: 'smtp://relay.service.example' })
  await core.sources.addSmartHost({ name: 'spare', url: 'smtp://spare.service.example', usedFor: ['blocked'] })
  publishAll(dns)
  const { records, notes } = await answeredPlan(env)
  t.match(notes.slice(1), [/addresses from which relay\.service\.example sends/, /smart hosts send: spare/])
  t.match(
    records.find(({ purpose }) => purpose === 'spf'),
    { state: 'right' },
  )
})

t.test('in the sandbox the records are shown but not checked', async (t) => {
  const { env, core } = await start(t, { DELIVERY: 'sandbox', DNS_SERVERS: '' })
  await core.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'mta-1.service.example' })
  const { code, stdout } = await postrider(env, 'dns')
  t.equal(code, 0)
  t.match(stdout, /^HELO +A +mta-1\.service\.example +45\.0\.0\.1 +skipped +not checked with DELIVERY=sandbox/m)
})

async function answeredPlan(env: Readonly<Record<string, string>>): Promise<Plan> {
  return JSON.parse((await postrider(env, 'dns', '--json')).stdout) as Plan
}
