import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { refused } from '../refused.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address })
const { domains, accounts, audit } = service.core
const { id: accountId } = await accounts.create('harbour')

/** Does what is due, a round at a time, as workers do. */
async function work(): Promise<void> {
  while ((await domains.checkDue({ limit: 20 })) > 0);
}

t.test(
  'a claim whose records are not seen right within 14 days is gone with its key, and the log says so',
  async (t) => {
    const idle = await domains.add({ accountId, name: 'idle.example' })
    const active = await domains.add({ accountId, name: 'kept.example', state: 'active' })
    t.ok(idle.claimEndsAt)
    t.equal(active.claimEndsAt, null)
    await moveClock(service.sql, '13 days 23 hours')
    await work()
    t.match(await domains.show('idle.example'), { state: 'pending' })
    await moveClock(service.sql, '14 days 2 hours')
    await work()
    t.equal(await refused(domains.show('idle.example')), 'domainInvalid')
    t.match(await domains.show('kept.example'), { state: /^active$/ })
    t.equal((await service.sql`select id from dkim_keys where domain_id = ${idle.id}`).length, 0)
    const log = await audit.list(accountId, { after: 0, limit: 100 })
    t.match(log.at(-1), { action: 'domain.expire', object: 'domain idle.example', before: { state: 'pending' } })
  },
)

t.test('a domain that could send once keeps its key when it is deleted, since mail may be on its way', async (t) => {
  const domain = await domains.add({ accountId, name: 'sent.example', state: 'active' })
  await domains.remove(accountId, 'sent.example', { keyId: null, address: null })
  t.match(await domains.signer(domain.id), { domain: 'sent.example' })
})
