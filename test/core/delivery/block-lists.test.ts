import t, { type Test } from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { type DnsServer, startDns } from '../../helpers/dns.ts'
import { isInTime } from '../../helpers/pace.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { LISTS, list, publishLists, publishSource } from '../../helpers/source-zones.ts'

const [ZEN = '', BARRACUDA = ''] = LISTS

interface Watch {
  readonly service: TestService
  readonly dns: DnsServer
  readonly address: string
  /** The state of the address in each list after looking it up now. */
  states(): Promise<Record<string, string>>
}

/** A service with one source and proven lists. */
async function startWatch(t: Test, settings: Record<string, string> = {}): Promise<Watch> {
  const dns = await startDns(t, {})
  publishLists(dns)
  const service = await makeService(t, { DELIVERY: 'mx', DNS_SERVERS: dns.address, ...settings })
  const address = '45.0.0.1'
  publishSource(dns, address, 'mta-1.sends.example')
  await service.core.sources.add({ name: 'mta-1', address, helo: 'mta-1.sends.example' })
  return {
    service,
    dns,
    address,
    async states() {
      const { listings } = await service.core.sourceChecks.check('mta-1')
      return Object.fromEntries(listings.map((one) => [one.list, one.state]))
    },
  }
}

const everywhere = (state: string) => Object.fromEntries(LISTS.map((name) => [name, state]))

t.test(
  'an address is looked up in all lists, and a listing is an address in 127.0.0.0/8 except error codes',
  async (t) => {
    const { dns, address, states, service } = await startWatch(t)
    t.strictSame(await states(), everywhere('clean'))
    const listed = async (...codes: string[]) => {
      list(dns, address, ZEN, ...codes)
      const { listings } = await service.core.sourceChecks.check('mta-1')
      return listings.find((one) => one.list === ZEN)
    }
    t.match(await listed('127.0.0.2', '127.0.0.9'), {
      state: 'listed',
      codes: ['127.0.0.2', '127.0.0.9'],
      isSevere: true,
    })
    t.match(await listed('127.0.0.4'), { state: 'listed', isSevere: true })
    t.match(await listed('127.0.0.30'), { state: 'listed', isSevere: false }, 'of unknown meaning')
    t.match(await listed('127.0.0.10', '127.0.0.11'), { state: 'policy', isSevere: false })
    t.match(await listed('127.0.0.3', '127.0.0.10'), { state: 'listed', isSevere: true }, 'PBL and CSS')
    t.match(await listed(), { state: 'clean', codes: [] })
    t.match(await listed('127.255.255.254'), { state: 'unknown', problem: /error code 127\.255\.255\.254/ })
    t.match(await listed('203.0.113.1'), { state: 'unknown', problem: /not in 127\.0\.0\.0\/8/ }, 'a lying resolver')
    list(dns, address, ZEN)
    list(dns, address, BARRACUDA, '127.0.0.2')
    t.strictSame(await states(), { ...everywhere('clean'), [BARRACUDA]: 'listed' })
    t.match(
      (await service.core.sourceChecks.check('mta-1')).listings.find((one) => one.list === BARRACUDA),
      { isSevere: false },
    )
  },
)

t.test(
  'a list that is not proven by its test entries is unknown, never clean, and not queried for addresses',
  async (t) => {
    const { dns, states } = await startWatch(t)
    delete dns.zones[`2.0.0.127.${BARRACUDA}`]
    dns.zones['1.0.0.127.bl.spamcop.net'] = { a: ['127.0.0.2'] }
    dns.zones['2.0.0.127.bl.mailspike.net'] = { fails: 'servfail' }
    dns.zones['2.0.0.127.zen.spamhaus.org'] = { a: ['127.255.255.254'] }
    const expected = {
      ...everywhere('unknown'),
      'psbl.surriel.com': 'clean',
    }
    t.strictSame(await states(), expected)
    t.strictSame(
      dns.questions.filter((question) => question.startsWith('A 1.0.0.45.')),
      ['A 1.0.0.45.psbl.surriel.com'],
    )
  },
)

t.test('each list is proven daily, and one that fails is tried again after ten minutes', async (t) => {
  const { dns, states, service } = await startWatch(t)
  const tests = () => dns.questions.filter((question) => question === `A 2.0.0.127.${ZEN}`).length
  await states()
  await moveClock(service.sql, '23 hours')
  await states()
  t.equal(tests(), 1)
  delete dns.zones[`2.0.0.127.${ZEN}`]
  await moveClock(service.sql, '25 hours')
  t.match(await states(), { [ZEN]: 'unknown' })
  t.equal(tests(), 2)
  publishLists(dns)
  t.match(await states(), { [ZEN]: 'unknown' })
  await moveClock(service.sql, '25 hours 11 minutes')
  t.match(await states(), { [ZEN]: 'clean' })
  t.equal(tests(), 3)
})

t.test('a listing stays while its list does not answer', async (t) => {
  const { dns, address, service } = await startWatch(t)
  const zen = async () => (await service.core.sourceChecks.check('mta-1')).listings.find((one) => one.list === ZEN)
  list(dns, address, ZEN, '127.0.0.2')
  const first = await zen()
  dns.zones['1.0.0.45.zen.spamhaus.org'] = { fails: 'servfail' }
  await moveClock(service.sql, '1 hour')
  const second = await zen()
  t.match(second, { state: 'listed', isSevere: true, problem: 'DNS lookup failed (ESERVFAIL)' })
  t.equal(second?.since.getTime(), first?.since.getTime())
  list(dns, address, ZEN)
  const clean = await zen()
  t.equal(clean?.state, 'clean')
  t.equal(clean?.problem, null)
  t.ok(first && clean && clean.since > first.since)
})

t.test('addresses are looked up every 30 minutes, and an old result is unknown', async (t) => {
  const { service } = await startWatch(t)
  const { sourceChecks } = service.core
  const round = () => sourceChecks.checkDueListings({ limit: 20 })
  const zen = async () => [...(await sourceChecks.read()).values()][0]?.listings.find((one) => one.list === ZEN)?.state
  t.equal(await round(), 1)
  t.equal(await round(), 0)
  await moveClock(service.sql, '25 minutes')
  t.equal(await round(), 0)
  await moveClock(service.sql, '32 minutes')
  t.equal(await round(), 1)
  t.equal(await zen(), 'clean')
  await moveClock(service.sql, '3 hours')
  t.equal(await zen(), 'unknown')
})

t.test('BLOCK_LISTS replaces the lists, and none ends all lookups and their results', async (t) => {
  const { dns, service, states } = await startWatch(t, { BLOCK_LISTS: 'own.lists.example, zen.spamhaus.org' })
  publishLists(dns, ['own.lists.example'])
  t.strictSame(await states(), { 'own.lists.example': 'clean', [ZEN]: 'clean' })
  list(dns, '45.0.0.1', 'own.lists.example', '127.0.0.5')
  t.match(await states(), { 'own.lists.example': 'listed' })
  const none = await makeService(t, { DELIVERY: 'mx', DNS_SERVERS: dns.address, BLOCK_LISTS: 'none' })
  await none.core.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'mta-1.sends.example' })
  t.strictSame((await none.core.sourceChecks.check('mta-1')).listings, [])
  t.equal((await service.core.sourceChecks.check('mta-1')).listings.length, 2)
})

t.test('with SPAMHAUS_KEY, the zone of the key is queried, and the key is not shown', async (t) => {
  const { dns, states } = await startWatch(t, { SPAMHAUS_KEY: 'abcd1234', BLOCK_LISTS: ZEN })
  t.strictSame(await states(), { [ZEN]: 'unknown' })
  t.notOk(dns.questions.some((question) => question.endsWith(ZEN)))
  const { states: proven, dns: other } = await startWatch(t, { SPAMHAUS_KEY: 'abcd1234', BLOCK_LISTS: ZEN })
  publishLists(other, ['abcd1234.zen.dq.spamhaus.net'])
  t.strictSame(await proven(), { [ZEN]: 'clean' })
})

t.test(
  'private addresses and the sandbox are not looked up, and IPv6 addresses only in lists that have them',
  async (t) => {
    const { dns, service } = await startWatch(t)
    const { sources, sourceChecks } = service.core
    await sources.add({ name: 'private', address: '10.0.0.1', helo: 'mta.internal.example' })
    t.strictSame((await sourceChecks.check('private')).listings, [])
    publishSource(dns, '2a01:4f8::25', 'mta-6.sends.example')
    await sources.add({ name: 'mta-6', address: '2a01:4f8::25', helo: 'mta-6.sends.example' })
    t.match((await sourceChecks.check('mta-6')).listings, [{ list: ZEN, address: '2a01:4f8::25', state: 'clean' }])
    const sandbox = (await makeService(t, { DNS_SERVERS: dns.address })).core
    await sandbox.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'mta-1.sends.example' })
    t.strictSame((await sandbox.sourceChecks.check('mta-1')).listings, [])
  },
)

t.test('a silent list costs the others nothing', async (t) => {
  const { dns, states, service } = await startWatch(t)
  for (const address of ['2.0.0.127', '1.0.0.127']) dns.zones[`${address}.${BARRACUDA}`] = { fails: 'silence' }
  t.strictSame(await states(), { ...everywhere('clean'), [BARRACUDA]: 'unknown' })
  for (let number = 2; number <= 40; number++) {
    const source = { name: `mta-${number}`, address: `45.0.0.${number}`, helo: 'mta.sends.example', force: true }
    await service.core.sources.add(source)
  }
  const began = performance.now()
  t.equal(await service.core.sourceChecks.checkDueListings({ limit: 100 }), 39)
  t.ok(isInTime(began, 5000), 'it is not queried again for each address')
})

t.test('a list that fails after its proof is proven again, before it is queried for other addresses', async (t) => {
  const { dns, states, service } = await startWatch(t)
  await states()
  for (let number = 2; number <= 40; number++) {
    const source = { name: `mta-${number}`, address: `45.0.0.${number}`, helo: 'mta.sends.example', force: true }
    await service.core.sources.add(source)
    dns.zones[`${number}.0.0.45.${BARRACUDA}`] = { fails: 'servfail' }
  }
  for (const address of ['2.0.0.127', '1.0.0.127']) dns.zones[`${address}.${BARRACUDA}`] = { fails: 'servfail' }
  dns.questions.length = 0
  t.equal(await service.core.sourceChecks.checkDueListings({ limit: 100 }), 39)
  const queried = new Set(dns.questions.filter((question) => question.endsWith(`.0.0.45.${BARRACUDA}`)))
  t.ok(queried.size <= 5, `for ${queried.size} addresses, those that were looked up at the same time`)
})
