import type { DomainWithRecords } from '@postrider/core'
import t from 'tap'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address })
const { domains, accounts, audit } = service.core
const by = { keyId: null, address: null }

function publish({ dns: records }: DomainWithRecords): void {
  for (const { type, host, value } of records) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
}

function withdraw({ dns: records }: DomainWithRecords): void {
  for (const { host } of records) delete dns.zones[host]
}

/** A text would match `inactive` too. */
const ACTIVE = /^active$/
const ROUNDS = 8

t.test('two accounts that take a domain over from each other at the same moment both get it', async (t) => {
  const { id: east } = await accounts.create('east')
  const { id: west } = await accounts.create('west')
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = [`first${round}.example`, `second${round}.example`]
    const held = [
      await domains.add({ accountId: east, name: first }),
      await domains.add({ accountId: west, name: second }),
    ]
    held.forEach(publish)
    t.match(await domains.verify(east, first, by), { state: ACTIVE })
    t.match(await domains.verify(west, second, by), { state: ACTIVE })
    const claimed = [
      await domains.add({ accountId: east, name: second }),
      await domains.add({ accountId: west, name: first }),
    ]
    held.forEach(withdraw)
    claimed.forEach(publish)
    const taken = await Promise.allSettled([domains.verify(east, second, by), domains.verify(west, first, by)])
    for (const one of taken) t.match(one, { status: 'fulfilled', value: { state: ACTIVE } }, `round ${round}`)
  }
  for (const accountId of [east, west]) {
    const entries = await audit.list(accountId, { after: 0, limit: 1000 })
    t.equal(entries.filter(({ action }) => action === 'domain.lose').length, ROUNDS)
    t.equal(await audit.firstBroken(accountId), null)
  }
})
