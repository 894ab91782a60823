import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

t.test('a worker logs a domain that sends much and lacks what its receiver demands', async (t) => {
  const dns = await startDns(t, {})
  const service = await makeService(t, { DELIVERY: 'mx', DNS_SERVERS: dns.address, BLOCK_LISTS: 'none' })
  const { accountId, domain: name } = await service.makeSender()
  const domain = await service.core.domains.verify(accountId, name, { keyId: null, address: null })
  await service.sql`
    insert into delivery_counts (account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft,
           blocked, late, complained, unsubscribed)
    values (${accountId}, date_trunc('hour', service_now()), ${domain.id}, 1, 'google', '', 0, 4000, 4000, 0, 0, 0, 0, 0, 0, 0)`
  const workers = await Promise.all([1, 2].map(() => openWorker(t, service)))
  const lines = () =>
    workers.flatMap(({ log }) => log.filter(({ msg }) => String(msg).startsWith('a domain sends much to a receiver')))
  await until('the warning', () => lines().length > 0 || undefined)
  t.match(lines(), [
    {
      level: 40,
      name,
      receiver: 'google',
      delivered: 4000,
      problems: [/^spf: /, /^dkim: /, /^dmarc: no DMARC record/, /^alignment: /],
    },
  ])
  await new Promise((resolve) => setTimeout(resolve, 1000))
  t.equal(lines().length, 1, 'at one of both workers')
})
