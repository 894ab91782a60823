import t from 'tap'
import { refused as refusedBy } from '../../core/refused.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { errorText } from '../call.ts'
import { type ShownDomain, startDomains, untagged } from './domain.ts'

const test = await startDomains(t)
const { service, url, post, done, newName } = test

function refusal(code: number, status = 400): Record<string, unknown> {
  return { status, json: { error_info: { error_code: code } } }
}

async function claimed(domain: string): Promise<{ apiKey: string; accountId: number; added: ShownDomain }> {
  const { apiKey, accountId } = await service.makeSender()
  return { apiKey, accountId, added: await done(apiKey, 'domain', { domain }) }
}

async function sends(apiKey: string, domain: string): Promise<boolean> {
  const sender = await service.makeSender()
  const from = { fromEmail: `desk@${domain}`, fromName: 'Desk' }
  return (await sendV2(url, apiKey, v2Body(sender, { from }))).status === 200
}

/** The names in an answer are the same for all; keys, selectors and times are made anew. */
function shape({ dns, ...domain }: ShownDomain): unknown {
  const records = dns.map(({ host, value, ...record }) => ({
    ...record,
    host: untagged(host),
    value: value.slice(0, 20),
    // Of the value, too.
    strings: undefined,
  }))
  return { ...domain, addedTime: '', claimEnds: '', records }
}

t.test('a claim stops no other account, and the one that sets its own records in the DNS has the domain', async (t) => {
  const domain = newName()
  const squatter = await claimed(domain)
  const owner = await claimed(domain)
  t.strictSame(shape(owner.added), shape(squatter.added), 'the second one learns nothing of the first')
  t.not(owner.added.dns[0]?.host, squatter.added.dns[0]?.host)
  test.publish(owner.added)
  t.match(
    await done(squatter.apiKey, 'domain/verify', { domain }),
    { status: 'pending' },
    'those are the owner’s records',
  )
  t.match(await done(owner.apiKey, 'domain/verify', { domain }), { status: 'active', claimEnds: null })
  t.match(await done(squatter.apiKey, 'domain/verify', { domain }), { status: 'pending' })
  t.equal(await sends(owner.apiKey, domain), true)
  t.equal(await sends(squatter.apiKey, domain), false)
})

t.test('adding a domain does not reveal that another account sends from it', async (t) => {
  const domain = newName()
  const free = await claimed(newName())
  const owner = await claimed(domain)
  test.publish(owner.added)
  await done(owner.apiKey, 'domain/verify', { domain })
  const stranger = await claimed(domain)
  const blind = (added: ShownDomain) => JSON.stringify(shape(added)).replaceAll(added.domain, '')
  t.equal(blind(stranger.added), blind(free.added))
  t.match(stranger.added, { status: 'pending' })
  const looked = await done(stranger.apiKey, 'domain/verify', { domain })
  t.match(looked, { status: 'pending' })
  t.notOk(
    looked.dns.some(({ problem }) => /account/.test(problem ?? '')),
    JSON.stringify(looked.dns),
  )
})

t.test(
  'a domain goes to who proves it once the records of the account that has it are gone, and not before',
  async (t) => {
    const domain = newName()
    const first = await claimed(domain)
    test.publish(first.added)
    await done(first.apiKey, 'domain/verify', { domain })
    const second = await claimed(domain)
    test.publish(second.added)
    const held = await done(second.apiKey, 'domain/verify', { domain })
    t.equal(held.status, 'pending')
    t.match(held.dns[0], {
      state: 'right',
      problem: /another account has this domain, and its DKIM record is still published/,
    })
    t.equal(await sends(first.apiKey, domain), true)

    test.set(first.added.dns[0]?.host as string, {})
    const taken = await done(second.apiKey, 'domain/verify', { domain })
    t.match(taken, { status: 'active', claimEnds: null })
    t.notOk(taken.dns[0]?.problem)
    t.equal(await sends(second.apiKey, domain), true)
    const [left] = await done<ShownDomain[]>(first.apiKey, 'domains', { domain })
    t.match(left, { status: 'pending', claimEnds: /^20/ })
    const log = await service.core.audit.list(first.accountId, { after: 0, limit: 100 })
    t.match(log.at(-1), { action: 'domain.lose', object: `domain ${domain}`, keyId: null })
    const [event] = await service.sql`
    select detail from events where account_id = ${first.accountId} and type = 'domain' order by occurred_at desc limit 1`
    t.strictSame(event?.detail, { domain, before: 'active', after: 'pending' })
  },
)

t.test(
  'a domain whose records were gone for a while is not taken while the DNS does not answer for them',
  async (t) => {
    const domain = newName()
    const first = await claimed(domain)
    test.publish(first.added)
    await done(first.apiKey, 'domain/verify', { domain })
    const proof = first.added.dns[0]?.host as string
    test.set(proof, {})
    t.match(await done(first.apiKey, 'domain/verify', { domain }), { status: 'active', dns: [{ state: 'missing' }] })
    const second = await claimed(domain)
    test.publish(second.added)
    test.set(proof, { fails: 'servfail' })
    const held = await done(second.apiKey, 'domain/verify', { domain })
    t.match(held, { status: 'pending', dns: [{ problem: /its DNS records could not be looked up/ }] })
    t.equal(await sends(first.apiKey, domain), true)
    test.set(proof, {})
    t.match(await done(second.apiKey, 'domain/verify', { domain }), { status: 'active' })
  },
)

t.test('what the operator gave an account unseen, no record of another takes away', async (t) => {
  const { apiKey, domain } = await service.makeSender()
  const other = await claimed(domain)
  test.publish(other.added)
  const held = await done(other.apiKey, 'domain/verify', { domain })
  t.match(held, { status: 'pending', dns: [{ problem: /the operator assigned this domain to another account/ }] })
  t.equal(await sends(apiKey, domain), true)
})

t.test('of two claims that are proved at the same moment one has the domain and the other waits', async (t) => {
  for (let round = 0; round < 5; round++) {
    const domain = newName()
    const both = await Promise.all([claimed(domain), claimed(domain)])
    for (const { added } of both) test.publish(added)
    const looked = await Promise.all(both.map(({ apiKey }) => done(apiKey, 'domain/verify', { domain })))
    t.strictSame(looked.map(({ status }) => status).sort(), ['active', 'pending'])
  }
})

t.test('133: an account has at most 100 claims at a time', async (t) => {
  const { apiKey, accountId } = await service.makeSender()
  await service.sql`
    insert into domains (account_id, name, claim_ends_at)
    select ${accountId}, 'claim' || n || '.example', service_now() + interval '1 day' from generate_series(1, 99) n`
  await done(apiKey, 'domain', { domain: newName() })
  const domain = newName()
  const refused = await post(apiKey, 'domain', { domain })
  t.match(refused, refusal(133))
  t.match(errorText(refused), /^Domain limit reached: an account can have at most 100 unverified domains/)
  t.strictSame(await done(apiKey, 'domains', { domain }), [])
  await done(apiKey, 'domain/delete', { domain: 'claim7.example' })
  t.match(await done(apiKey, 'domain', { domain }), { status: 'pending' })
})

t.test('an account makes at most 100 DKIM keys an hour, whatever it deletes, and others are not held up', async (t) => {
  const { apiKey, accountId } = await service.makeSender()
  const domain = newName()
  await done(apiKey, 'domain', { domain })
  // The window may end meanwhile, and the process asks again for what it took.
  await service.sql`
    insert into allowances (name, starts_at, taken, granted)
    select ${`dkim keys ${accountId}`}, date_bin('1 hour', service_now(), 'epoch') + n * interval '1 hour', 100, 0
      from generate_series(0, 1) n
    on conflict (name, starts_at) do update set taken = 100`
  let refused = await post(apiKey, 'domain', { domain: newName() })
  for (let more = 0; refused.status === 200 && more < 5; more++)
    refused = await post(apiKey, 'domain', { domain: newName() })
  t.match(refused, refusal(429, 429))
  t.match(errorText(refused), /^Rate limit of 100 new DKIM keys per hour exceeded\. Retry after \d+ s$/)
  t.match(await post(apiKey, 'domain/rotateDkim', { domain }), refusal(429, 429))
  t.match(await post(apiKey, 'domain/ed25519', { domain, ed25519: true }), refusal(429, 429))
  const added = (by: { keyId: null; userId?: number; address: null }) =>
    refusedBy(service.core.domains.add({ accountId, name: newName(), by }))
  t.equal(await added({ keyId: null, userId: 1, address: null }), 'rateLimited', 'a user of the dashboard')
  t.equal(await added({ keyId: null, address: null }), undefined, 'the operator')
  await claimed(newName())
})

t.test('an account that adds many domains at once keeps another waiting for one key only', async (t) => {
  const greedy = await service.makeSender()
  const other = await service.makeSender()
  const order: string[] = []
  const add = async (apiKey: string, who: string) => {
    await done(apiKey, 'domain', { domain: newName() })
    order.push(who)
  }
  const many = Array.from({ length: 8 }, () => add(greedy.apiKey, 'greedy'))
  await Promise.all([...many, add(other.apiKey, 'other')])
  t.ok(order.indexOf('other') <= 3, order.join(' '))
})
