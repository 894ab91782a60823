import type { DomainWithRecords, RequirementName } from '@postrider/core'
import t from 'tap'
import { answered, postrider } from '../../cli/postrider.ts'
import { moveClock } from '../../helpers/database.ts'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { publishSource } from '../../helpers/source-zones.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address, DELIVERY: 'mx', BLOCK_LISTS: 'none' })
const { sql, env, core } = service
const { id: accountId } = await core.accounts.create('harbour')
const BY = { keyId: null, address: null }

/** An active domain that was checked; `without`: records that are not published. */
async function addDomain(name: string, { without = ['dmarc'] }: { readonly without?: readonly string[] } = {}) {
  await service.giveKey(name)
  const domain = await core.domains.add({ accountId, name, state: 'active' })
  for (const { type, host, value, purpose } of domain.dns)
    if (!without.includes(purpose)) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
  return core.domains.verify(accountId, name, BY)
}

async function state(domain: DomainWithRecords, name: RequirementName) {
  return (await core.guard.requirements(domain.id)).general.find((one) => one.name === name)
}

async function deliver({ id }: DomainWithRecords, provider: string, delivered: number, hours = 1): Promise<void> {
  await sql`
    insert into delivery_counts (account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft,
           blocked, late, complained, unsubscribed)
    values (${accountId}, date_trunc('hour', service_now() - make_interval(hours => ${hours}::int)), ${id}, 1, ${provider}, '', 0,
            ${delivered}, ${delivered}, 0, 0, 0, 0, 0, 0, 0)`
}
const alarmed = async (domain: DomainWithRecords) =>
  (await core.guard.alarms()).find(({ domainId }) => domainId === domain.id)

const WALKS: readonly {
  readonly of: string
  readonly records: Readonly<Record<string, readonly string[]>>
  readonly found: object
  readonly organisational: string
}[] = [
  {
    of: 'own.example',
    records: { 'own.example': ['v=DMARC1; p=reject'] },
    found: { state: 'right' },
    organisational: 'own.example',
  },
  {
    of: 'news.parent.example',
    records: { 'parent.example': ['v=DMARC1; rua=mailto:a@parent.example'] },
    found: { state: 'right' },
    organisational: 'parent.example',
  },
  {
    of: 'a.both.example',
    records: { 'a.both.example': ['v=DMARC1; p=none'], 'both.example': ['v=DMARC1; p=none'] },
    found: { state: 'right' },
    organisational: 'both.example',
  },
  {
    of: 'x.division.corp.example',
    records: { 'division.corp.example': ['v=DMARC1; p=none; psd=n'], 'corp.example': ['v=DMARC1; p=none'] },
    found: { state: 'right' },
    organisational: 'division.corp.example',
  },
  {
    of: 'mail.city.gov.example',
    records: { 'gov.example': ['v=DMARC1; p=reject; psd=y'] },
    found: { state: 'right' },
    organisational: 'city.gov.example',
  },
  { of: 'none.test', records: {}, found: { state: 'missing' }, organisational: 'none.test' },
  {
    of: 'odd.test',
    records: { 'odd.test': ['v=DMARC1; p=maybe'] },
    found: { state: 'missing', problem: 'p=maybe is not a policy' },
    organisational: 'odd.test',
  },
  {
    of: 'two.test',
    records: { 'two.test': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    found: { state: 'missing', problem: /multiple/ },
    organisational: 'two.test',
  },
  {
    of: 'twice.test',
    records: { 'twice.test': ['v=DMARC1; p=none; P=none'] },
    found: { state: 'missing', problem: /a tag occurs twice/ },
    organisational: 'twice.test',
  },
  {
    of: 'other.test',
    records: { 'other.test': ['v=DMARC10; p=none', 'google-site-verification=1'] },
    found: { state: 'missing' },
    organisational: 'other.test',
  },
]

t.test('the DMARC record of a domain, and its organizational domain, are found by a walk up the tree', async (t) => {
  for (const { of, records, found, organisational } of WALKS) {
    for (const [name, txt] of Object.entries(records)) dns.zones[`_dmarc.${name}`] = { txt }
    const domain = await addDomain(of)
    t.match(await state(domain, 'dmarc'), found, of)
    const [row] = await sql`select organisational from domain_guards where domain_id = ${domain.id}`
    t.match(row, { organisational }, of)
    for (const name of Object.keys(records)) delete dns.zones[`_dmarc.${name}`]
  }
})

t.test('a walk makes at most eight queries, and from a long name goes on with seven labels', async (t) => {
  const name = 'a.b.c.d.e.f.g.h.i.j.walked.test'
  await addDomain(name)
  const asked = dns.questions.filter((one) => one.startsWith('TXT _dmarc.') && name.endsWith(one.slice(11)))
  // The last one was asked for other domains, too.
  const walked = [...new Set(asked)].filter((one) => one !== 'TXT _dmarc.test')
  t.strictSame(
    walked,
    [name, ...['f.g.h.i.j', 'g.h.i.j', 'h.i.j', 'i.j', 'j'].map((part) => `${part}.walked.test`), 'walked.test'].map(
      (host) => `TXT _dmarc.${host}`,
    ),
  )
})

t.test('a query that fails changes nothing that was known', async (t) => {
  dns.zones['_dmarc.flaky.test'] = { txt: ['v=DMARC1; p=none'] }
  const domain = await addDomain('flaky.test')
  t.match(await state(domain, 'dmarc'), { state: 'right' })
  dns.zones['_dmarc.flaky.test'] = { fails: 'servfail' }
  await core.domains.verify(accountId, 'flaky.test', BY)
  t.match(await state(domain, 'dmarc'), { state: 'right' })
  delete dns.zones['_dmarc.flaky.test']
  await core.domains.verify(accountId, 'flaky.test', BY)
  t.match(await state(domain, 'dmarc'), { state: 'missing' })
})

t.test('an organization that sends 4000 messages within a day to one receiver must have what it demands', async (t) => {
  dns.zones['_dmarc.large.test'] = { txt: ['v=DMARC1; p=none; psd=n'] }
  const news = await addDomain('news.large.test', { without: ['returnPath', 'dmarc'] })
  const shop = await addDomain('shop.large.test', { without: ['spf', 'returnPath', 'dmarc'] })
  const idle = await addDomain('idle.large.test', { without: ['dkim', 'dmarc'] })
  await deliver(news, 'outlook', 2000)
  await deliver(shop, 'office365', 1999)
  await deliver(shop, 'google', 3000)
  await deliver(shop, 'outlook', 5000, 30)
  t.notOk(await alarmed(shop), '3999 to Microsoft, and less to Google')
  await deliver(shop, 'outlook', 1)
  t.match(await alarmed(shop), {
    receiver: 'microsoft',
    delivered: 4000,
    organisational: 'large.test',
    missing: [{ name: 'spf', state: 'missing' }],
  })
  t.notOk(await alarmed(news), 'it has everything')
  t.notOk(await alarmed(idle), 'it sends nothing')

  const { stdout } = await postrider(env, 'domain', 'list')
  t.match(stdout, /^shop\.large\.test +\d+ +active +lacks SPF or own return path$/m)
  t.match(stdout, /^news\.large\.test +\d+ +active$/m)
  const shown = await postrider(env, 'domain', 'check', 'shop.large.test')
  t.match(shown.stdout, /^SPF or own return path +missing +large +Gmail, .* neither .* right; publish the CNAME/m)
  t.match(shown.stdout, /^DMARC +fulfilled +large/m)
  t.match(shown.stdout, /warning: 4000 messages of large\.test were delivered to microsoft within 24 hours/)
  t.match(await answered(env, 'domain', 'check', 'news.large.test'), {
    alarm: null,
    requirements: [{ name: 'dkim', state: 'right' }],
  })

  dns.zones['shop.large.test'] = { txt: ['v=spf1 include:relay.test ~all'] }
  await core.domains.verify(accountId, 'shop.large.test', BY)
  t.notOk(await alarmed(shop))
})

t.test('each alarm is due once a day, at one of several workers', async (t) => {
  const domain = await addDomain('daily.test')
  await deliver(domain, 'google', 4500)
  const mine = (alarms: Awaited<ReturnType<typeof core.guard.dueAlarms>>) =>
    alarms.filter(({ domainId }) => domainId === domain.id)
  const asked = await Promise.all(Array.from({ length: 4 }, () => core.guard.dueAlarms()))
  t.match(mine(asked.flat()), [{ name: 'daily.test', receiver: 'google', missing: [{ name: 'dmarc' }] }])
  t.equal(mine(asked.flat()).length, 1)
  await moveClock(sql, '23 hours')
  t.strictSame(mine(await core.guard.dueAlarms()), [])
  await moveClock(sql, '25 hours')
  await deliver(domain, 'google', 4500)
  t.equal(mine(await core.guard.dueAlarms()).length, 1)
  await moveClock(sql, '0 hours')
})

t.test('the PTR records of the sources belong to what is demanded', async (t) => {
  const domain = await addDomain('ptr.test')
  t.match(await state(domain, 'ptr'), { state: 'unchecked' })
  publishSource(dns, '45.0.0.1', 'mta-1.sends.example')
  await core.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'mta-1.sends.example' })
  await core.sourceChecks.check('mta-1')
  t.match(await state(domain, 'ptr'), { state: 'right' })
  delete dns.zones['mta-1.sends.example']
  await core.sourceChecks.check('mta-1')
  t.match(await state(domain, 'ptr'), { state: 'missing', problem: /mta-1/ })
})
