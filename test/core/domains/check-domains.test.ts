import { createCore, createLog, type DomainWithRecords } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { startDns } from '../../helpers/dns.ts'
import { isInTime } from '../../helpers/pace.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address, DOMAIN_GRACE_HOURS: '5' })
const { domains, accounts, audit } = service.core
const { id: accountId } = await accounts.create('harbour')

function publish({ dns: records }: DomainWithRecords): void {
  for (const { type, host, value } of records) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
}

/** A text would match `inactive` too. */
const ACTIVE = /^active$/

let hours = 0
/** Lets the hours pass and does what is due then, a round at a time, as workers do. */
async function pass(more: number): Promise<void> {
  for (const end = hours + more; hours < end; ) {
    hours += 1
    await moveClock(service.sql, `${hours} hours ${hours * 4} minutes`)
    while ((await domains.checkDue({ limit: 20 })) > 0);
  }
}

/** As one of many: its key is of no interest. */
async function addQuickly(name: string, of = accountId): Promise<void> {
  await service.giveKey(name)
  await domains.add({ accountId: of, name })
}

async function checks(name: string): Promise<unknown[]> {
  const entries = await audit.list(accountId, { after: 0, limit: 1000 })
  return entries.filter(({ action, object }) => action === 'domain.check' && object === `domain ${name}`)
}

t.test('a pending domain is looked up every hour, and is active once its records are right', async (t) => {
  const domain = await domains.add({ accountId, name: 'waits.example' })
  t.equal(await domains.checkDue({ limit: 20 }), 0, 'not at once, before anybody could set a record')
  await pass(1)
  t.match(await domains.show('waits.example'), { state: 'pending', dns: [{ state: 'missing' }] })
  publish(domain)
  await pass(1)
  t.match(await domains.show('waits.example'), { state: ACTIVE, verifiedAt: Date, brokenSince: null })
  t.match(await domains.findActive(accountId, 'waits.example'), { name: 'waits.example' })
  t.match((await checks('waits.example')).at(-1), {
    keyId: null,
    address: null,
    before: { state: 'pending' },
    after: { state: ACTIVE, signs: /^pr1-[a-z0-9]{6}$/ },
  })
})

t.test('an active domain is looked up daily', async (t) => {
  publish(await domains.add({ accountId, name: 'well.example' }))
  await pass(1)
  const asked = () => dns.questions.filter((question) => question === 'TXT well.example').length
  t.equal(asked(), 1)
  await pass(20)
  t.equal(asked(), 1)
  await pass(6)
  t.equal(asked(), 2)
})

t.test(
  'a domain whose records break stays active for the grace time, then is inactive, and active again when they are right',
  async (t) => {
    const domain = await domains.add({ accountId, name: 'breaks.example' })
    publish(domain)
    await pass(1)
    t.match(await domains.show('breaks.example'), { state: ACTIVE })
    const host = domain.dns[0]?.host as string
    dns.zones[host] = { txt: ['v=DKIM1; p=QUJD'] }
    await pass(26)
    const broken = await domains.show('breaks.example')
    t.match(broken, { state: ACTIVE, brokenSince: Date, dns: [{ host, state: 'wrong', found: ['v=DKIM1; p=QUJD'] }] })
    t.match((await checks('breaks.example')).at(-1), {
      before: { state: ACTIVE, records: { [`dkim ${host}`]: 'right' } },
      after: { state: ACTIVE, records: { [`dkim ${host}`]: 'wrong' } },
    })
    await pass(7)
    t.match(await domains.show('breaks.example'), { state: 'inactive', brokenSince: broken.brokenSince })
    t.equal(await domains.findActive(accountId, 'breaks.example'), null)
    t.match((await checks('breaks.example')).at(-1), { before: { state: ACTIVE }, after: { state: 'inactive' } })
    publish(domain)
    await pass(2)
    t.match(await domains.show('breaks.example'), { state: ACTIVE, brokenSince: null })
    t.match(await domains.findActive(accountId, 'breaks.example'), { state: ACTIVE })
  },
)

t.test('a DNS that fails for days breaks nothing', async (t) => {
  const domain = await domains.add({ accountId, name: 'dark.example' })
  publish(domain)
  await pass(1)
  for (const { host } of domain.dns) dns.zones[host] = { fails: 'servfail' }
  await pass(40)
  const dark = await domains.show('dark.example')
  t.match(dark, { state: ACTIVE, brokenSince: null, dns: [{ state: 'right', problem: /DNS lookup failed/ }] })
  publish(domain)
  await pass(2)
  t.notOk((await domains.show('dark.example')).dns[0]?.problem)
})

t.test('SPF and return path may change places without a break', async (t) => {
  const domain = await domains.add({ accountId, name: 'swaps.example' })
  publish(domain)
  await pass(1)
  delete dns.zones['swaps.example']
  await pass(26)
  t.match(await domains.show('swaps.example'), {
    state: ACTIVE,
    brokenSince: null,
    returnPathHost: 'pr-bounces.swaps.example',
  })
  delete dns.zones['pr-bounces.swaps.example']
  await pass(26)
  t.match(await domains.show('swaps.example'), { brokenSince: Date, returnPathHost: null })
})

t.test('what the operator activated unseen stays active, until its records were right once', async (t) => {
  const domain = await domains.add({ accountId, name: 'vouched.example', state: 'active' })
  await pass(80)
  t.match(await domains.show('vouched.example'), { state: ACTIVE, brokenSince: null, dns: [{ state: 'missing' }] })
  publish(domain)
  await pass(26)
  for (const { host } of domain.dns) delete dns.zones[host]
  await pass(40)
  t.match(await domains.show('vouched.example'), { state: 'inactive' })
  await domains.activate('vouched.example')
  await pass(40)
  t.match(await domains.show('vouched.example'), { state: ACTIVE }, "the operator's word again")
})

t.test('a rejected domain stays so', async (t) => {
  publish(await domains.add({ accountId, name: 'rejected.example', state: 'rejected' }))
  await pass(3)
  t.match(await domains.show('rejected.example'), { state: 'rejected', dns: [{ state: 'right' }] })
})

t.test('the record of an old DKIM key is wanted for eight days', async (t) => {
  publish(await domains.add({ accountId, name: 'turns.example' }))
  await pass(1)
  const by = { keyId: null, address: null }
  publish(await domains.rotateDkim(accountId, 'turns.example', by))
  await pass(2)
  const roles = async () =>
    (await domains.show('turns.example')).dns.flatMap(({ host, key }) => (key ? [[host.split('-')[0], key]] : []))
  t.strictSame(await roles(), [
    ['pr2', 'active'],
    ['pr1', 'retiring'],
  ])
  await pass(7 * 24)
  t.equal((await roles()).length, 2)
  await pass(3 * 24)
  t.strictSame(await roles(), [['pr2', 'active']])
})

t.test('ten workers at once look each due domain up once, and a deleted one not at all', async (t) => {
  const names = Array.from({ length: 30 }, (_, at) => `due${at}.example`)
  for (const name of names) await addQuickly(name)
  await domains.remove(accountId, 'due0.example', { keyId: null, address: null })
  hours += 2
  await moveClock(service.sql, `${hours} hours ${hours * 4} minutes`)
  dns.questions.length = 0
  const workers = Array.from({ length: 10 }, () => {
    const core = createCore({ sql: service.sql, config: service.config, log: createLog('test', 'silent') })
    t.teardown(() => core.readiness.close())
    return core
  })
  await Promise.all(
    workers.map(async (worker) => {
      while ((await worker.domains.checkDue({ limit: 3 })) > 0);
    }),
  )
  for (const name of names) {
    const asked = dns.questions.filter((question) => question === `TXT ${name}`).length
    t.equal(asked, name === 'due0.example' ? 0 : 1, name)
  }
})

t.test('a worker that stops leaves what it saw half unsaid', async (t) => {
  const domain = await domains.add({ accountId, name: 'stops.example' })
  for (const { host } of domain.dns) dns.zones[host] = { fails: 'silence' }
  // The thirty of the test before are due, too, by chance more than 20 of them before this one.
  await service.sql`update domains set check_at = service_now() + interval '1 day' where name != ${domain.name}`
  hours += 2
  await moveClock(service.sql, `${hours} hours ${hours * 4} minutes`)
  const stopping = new AbortController()
  const round = domains.checkDue({ limit: 20, signal: stopping.signal })
  await until('its queries', () => dns.questions.some((question) => question.endsWith('stops.example')))
  stopping.abort()
  const began = performance.now()
  await round
  t.ok(isInTime(began, 2000))
  t.match(await domains.show('stops.example'), { checkedAt: null })
})

t.test('one account with many due domains, also of its subaccounts, does not delay those of another', async (t) => {
  const { id: fleet } = await accounts.create('fleet')
  const { id: ferry } = await accounts.create('ferry')
  const account = (await service.core.auth.principalOfUser(fleet, ['all']))?.account
  const own = { username: 'tender', email: 'desk@fleet.example', password: undefined, creditType: 'unlimited' } as const
  const { secret } = await service.core.subaccounts.create(account as NonNullable<typeof account>, own)
  const { id: tender } = (await service.core.auth.authenticate(secret, '192.0.2.1')).account
  for (let at = 0; at < 20; at++) await addQuickly(`fleet${at}.example`, at % 2 === 0 ? fleet : tender)
  await addQuickly('ferry.example', ferry)
  hours += 2
  await moveClock(service.sql, `${hours} hours ${hours * 4} minutes`)
  await service.sql`update domains set check_at = service_now() + interval '1 day' where account_id = ${accountId}`
  await service.sql`update domains set check_at = check_at - interval '1 hour' where name like 'fleet%'`
  t.equal(await domains.checkDue({ limit: 2 }), 2)
  t.ok((await domains.show('ferry.example')).checkedAt)
  t.ok((await domains.show('fleet0.example')).checkedAt)
})

t.test('domains that cannot be looked after do not keep the others of their round waiting', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `${at < 10 ? 'fails' : 'follows'}${at}.example`)
  for (const name of names) await addQuickly(name)
  await service.sql`
    alter table domains add constraint no_look check (name not like 'fails%' or checked_at is null)`
  hours += 2
  await moveClock(service.sql, `${hours} hours ${hours * 4} minutes`)
  // All of them in one round, those that fail first.
  await service.sql`update domains set check_at = service_now() + interval '1 day' where name not like all ('{fails%,follows%}')`
  await service.sql`update domains set check_at = service_now() - interval '1 minute' where name like 'fails%'`
  await t.rejects(domains.checkDue({ limit: 20 }), { code: '23514' }, 'the loop hears of it')
  for (const name of names.slice(10)) t.ok((await domains.show(name)).checkedAt, name)
  await service.sql`alter table domains drop constraint no_look`
})
