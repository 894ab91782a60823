import { ServiceError } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { publishSource } from '../../helpers/source-zones.ts'
import { until } from '../../helpers/until.ts'

const dns = await startDns(t, {})
const { zones } = dns
const settings = { DELIVERY: 'mx', DNS_SERVERS: dns.address, BLOCK_LISTS: 'none', RETURN_PATH_HOST: 'bounces.example' }
const { core, sql } = await makeService(t, settings)
const { sources, sourceChecks } = core

let numbers = 0
/** A name and an address that no other test has. */
function fresh() {
  const number = ++numbers
  return { name: `mta-${number}`, address: `45.0.0.${number}`, helo: `mta-${number}.sends.example` }
}

/** What an invalid parameter is called, and why it is invalid. */
async function problemOf(act: Promise<unknown>): Promise<unknown> {
  const error = await act.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ServiceError && error.errorName === 'parameterInvalid') return error.values
  throw error ?? new Error('not refused')
}

/** "reverse right" of each check of a source. */
async function statesOf(name: string): Promise<string[]> {
  return (await sourceChecks.check(name)).records.map(({ purpose, state }) => `${purpose} ${state}`)
}

t.test('a source is added only if its PTR record has a name that resolves back to the address', async (t) => {
  const source = fresh()
  const host = '1.0.0.45.in-addr.arpa'
  const refused = async (problem: RegExp) =>
    t.match(await problemOf(sources.add(source)), { parameter: 'address', problem })
  await refused(
    /^needs a PTR record.*\. PTR 1\.0\.0\.45\.in-addr\.arpa: does not exist\. It should be mta-1\.sends\.example, .* 45\.0\.0\.1 /,
  )
  zones[host] = { ptr: ['host.provider.example'] }
  await refused(/\(found host\.provider\.example\): host\.provider\.example does not exist, not to 45\.0\.0\.1/)
  zones['host.provider.example'] = { a: ['45.0.0.99'] }
  await refused(/host\.provider\.example resolves to 45\.0\.0\.99, not to 45\.0\.0\.1/)
  zones[host] = { fails: 'servfail' }
  await refused(/DNS lookup failed \(ESERVFAIL\)/)
  t.equal((await sources.read()).sources.length, 0)
  publishSource(dns, source.address, 'other.example')
  await sources.add(source)
  t.match(await sourceChecks.check(source.name), {
    records: [
      { purpose: 'reverse', state: 'right', found: ['other.example'] },
      { purpose: 'reverseHelo', state: 'wrong', expected: source.helo, problem: 'differs from the name in EHLO' },
      { purpose: 'helo', type: 'A', host: source.helo, expected: source.address, state: 'missing' },
      { purpose: 'spf', type: 'TXT', host: 'bounces.example', expected: 'v=spf1 ip4:45.0.0.1 ~all', state: 'missing' },
    ],
    listings: [],
  })
})

t.test('with force, a source is added without a PTR record', async (t) => {
  const source = fresh()
  await sources.add({ ...source, force: true })
  t.match(await statesOf(source.name), ['reverse missing', 'reverseHelo missing', 'helo missing', 'spf missing'])
})

t.test('an invalid source is refused before the DNS is queried', async (t) => {
  const source = fresh()
  dns.questions.length = 0
  t.match(await problemOf(sources.add({ ...source, name: 'mta-1' })), { parameter: 'name' })
  t.match(await problemOf(sources.add({ ...source, weight: 1000 })), { parameter: 'weight' })
  t.strictSame(dns.questions, [])
})

t.test('all records are right', async (t) => {
  const source = fresh()
  publishSource(dns, source.address, source.helo)
  zones['bounces.example'] = { txt: ['v=spf1 include:_spf.sends.example ~all', 'google-site-verification=1'] }
  zones['_spf.sends.example'] = { txt: ['v=spf1 ip4:45.0.0.0/24 -all'] }
  await sources.add(source)
  t.match(await sourceChecks.check(source.name), {
    records: [
      { purpose: 'reverse', state: 'right', found: [source.helo] },
      { purpose: 'reverseHelo', state: 'right' },
      { purpose: 'helo', state: 'right', found: [source.address] },
      { purpose: 'spf', state: 'right', found: ['v=spf1 include:_spf.sends.example ~all'] },
    ],
  })
})

t.test('SPF that does not permit the address is wrong, with the reason', async (t) => {
  const source = fresh()
  publishSource(dns, source.address, source.helo)
  await sources.add(source)
  const spf = async (...txt: string[]) => {
    zones['bounces.example'] = { txt }
    return (await sourceChecks.check(source.name)).records.find(({ purpose }) => purpose === 'spf')
  }
  t.match(await spf('v=spf1 ip4:46.0.0.0/24 ~all'), { state: 'wrong', problem: /does not permit .* \(softfail\)/ })
  t.match(await spf('v=spf1 -all'), { state: 'wrong', problem: /\(fail\)/ })
  t.match(await spf('v=spf1 a:', 'v=spf1 -all'), { state: 'wrong', problem: /invalid record: .*/ })
  t.match(await spf('v=spf1 include:bounces.example -all'), { state: 'wrong', problem: /invalid record: Too many DNS/ })
  t.match(await spf('not spf'), { state: 'missing' })
})

t.test('records with control characters are shown without them', async (t) => {
  const source = fresh()
  zones[`${numbers}.0.0.45.in-addr.arpa`] = { ptr: ['odd\u0000\u001b[2J.example'] }
  zones['bounces.example'] = { txt: ['v=spf1 \u0000\u001b[2J ~all'] }
  await sources.add({ ...source, force: true })
  const { records } = await sourceChecks.check(source.name)
  t.match(records, [{ state: 'wrong' }, { state: 'wrong' }, {}, { state: 'wrong' }])
  t.notMatch(JSON.stringify(records), /\\u00/)
})

t.test('an IPv6 address has checks of its own', async (t) => {
  const source = { ...fresh(), address6: '2a01:4f8::25' }
  publishSource(dns, source.address, source.helo)
  t.match(await problemOf(sources.add(source)), {
    parameter: 'address6',
    problem: /PTR 5\.2\.0\.(0\.){21}8\.f\.4\.0\.1\.0\.a\.2\.ip6\.arpa/,
  })
  publishSource(dns, source.address6, source.helo)
  zones['bounces.example'] = { txt: ['v=spf1 ip4:45.0.0.0/24 ip6:2a01:4f8::/32 ~all'] }
  await sources.add(source)
  const { records } = await sourceChecks.check(source.name)
  t.equal(records.length, 8)
  t.ok(records.every(({ state }) => state === 'right'))
  t.match(records[6], { purpose: 'helo', type: 'AAAA', expected: source.address6 })
})

t.test('a private address is not checked, nor any address in the sandbox', async (t) => {
  dns.questions.length = 0
  await sources.add({ name: 'private', address: '10.0.0.1', helo: 'mta.internal.example' })
  t.match(await sourceChecks.check('private'), {
    records: [{ state: 'skipped', problem: 'not checked: a private address' }],
  })
  t.strictSame(dns.questions, [])
  const sandbox = (await makeService(t)).core
  await sandbox.sources.add(fresh())
  await sandbox.sourceChecks.checkDueRecords({ limit: 20 })
  const [status] = (await sandbox.sourceChecks.read()).values()
  t.match(status?.records, [{ state: 'skipped', problem: /DELIVERY=sandbox/ }])
})

t.test('checks are repeated hourly, a failed DNS query keeps the results, and workers share the work', async (t) => {
  const round = () => sourceChecks.checkDueRecords({ limit: 100 })
  await round()
  t.equal(await round(), 0, 'nothing is due')
  const source = fresh()
  publishSource(dns, source.address, source.helo)
  await sources.add(source)
  const due = await Promise.all([round(), round(), round()])
  t.equal(due[0] + due[1] + due[2], 1, 'a new source is due, once')
  const reverse = async () => {
    const { id } = (await sources.read()).sources.find(({ name }) => name === source.name) ?? { id: 0 }
    return (await sourceChecks.read()).get(id)?.records[0]
  }
  t.match(await reverse(), { state: 'right' })
  await moveClock(sql, '50 minutes')
  t.equal(await round(), 0)
  await moveClock(sql, '64 minutes')
  const host = `${numbers}.0.0.45.in-addr.arpa`
  const published = zones[host] ?? {}
  zones[host] = { fails: 'servfail' }
  t.equal(await round(), (await sources.read()).sources.length, 'all are due')
  t.match(await reverse(), {
    state: 'right',
    problem: /^DNS lookup failed \(ESERVFAIL\); showing the result of the previous/,
  })
  delete zones[host]
  await moveClock(sql, '128 minutes')
  await round()
  t.match(await reverse(), { state: 'missing', problem: 'does not exist' })
  zones[host] = published
  await moveClock(sql, '192 minutes')
  await round()
  const repaired = await reverse()
  t.equal(repaired?.state, 'right')
  t.notOk(repaired?.problem)
})

t.test('a source that is removed while it is checked is not stored again', async (t) => {
  const source = fresh()
  publishSource(dns, source.address, source.helo)
  await sources.add(source)
  zones[`${numbers}.0.0.45.in-addr.arpa`] = { fails: 'silence' }
  const checked = sourceChecks.checkDueRecords({ limit: 100 })
  await until('its query', () => dns.questions.some((question) => question.includes(`${numbers}.0.0.45`)))
  await sources.remove(source.name)
  await checked
  t.notOk((await sources.read()).sources.some(({ name }) => name === source.name))
})
