import type { DnsRecord, DomainWithRecords } from '@postrider/core'
import t from 'tap'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'

const dns = await startDns(t, {})
const service = await makeService(t, { DNS_SERVERS: dns.address, RETURN_PATH_HOST: 'bounces.post.example' })
const { domains, accounts } = service.core
const { id: accountId } = await accounts.create('harbour')
const by = { keyId: null, address: null }

/** Returns the records of a new domain that was looked up after `publish` had filled the DNS. */
async function looked(name: string, publish: (domain: DomainWithRecords) => void): Promise<readonly DnsRecord[]> {
  publish(await domains.add({ accountId, name }))
  return (await domains.verify(accountId, name, by)).dns
}

const of = (dns: readonly DnsRecord[], purpose: string) => dns.find((record) => record.purpose === purpose) as DnsRecord

t.test('a key that was cut at 255 characters is named as such', async (t) => {
  const found = await looked('cut.example', (domain) => {
    const { host, value } = of(domain.dns, 'dkim')
    dns.zones[host] = { txt: [value.slice(0, 255)] }
  })
  t.match(of(found, 'dkim'), { state: 'wrong', fault: 'cut', problem: /^p= is cut off after \d+ of \d{3} characters$/ })
})

t.test('quotation marks and backslashes that became part of a text are named as such', async (t) => {
  const found = await looked('quoted.example', (domain) => {
    const [dkim, spf, dmarc] = ['dkim', 'spf', 'dmarc'].map((purpose) => of(domain.dns, purpose)) as DnsRecord[]
    if (!dkim || !spf || !dmarc) return
    const [first = '', second = ''] = dkim.strings ?? []
    dns.zones[dkim.host] = { txt: [`"${first}" "${second}"`] }
    dns.zones[spf.host] = { txt: [`"${spf.value}"`] }
    dns.zones[dmarc.host] = { txt: [dmarc.value.replaceAll(';', '\\;')] }
  })
  for (const purpose of ['dkim', 'spf', 'dmarc'])
    t.match(of(found, purpose), { state: 'wrong', fault: 'quoted' }, purpose)
})

t.test('a domain that was appended twice is found, at the host and at the end of the target', async (t) => {
  const found = await looked('twice.example', (domain) => {
    const { host, value } = of(domain.dns, 'dkim')
    dns.zones[`${host}.twice.example`] = { txt: [value] }
    dns.zones[of(domain.dns, 'returnPath').host] = { cname: 'bounces.post.example.twice.example' }
  })
  const dkim = of(found, 'dkim')
  t.match(dkim, { state: 'wrong', fault: 'doubled', found: [`${dkim.host}.twice.example`] })
  t.match(dkim.problem, 'the domain was appended twice')
  t.match(of(found, 'returnPath'), { state: 'wrong', fault: 'doubled', problem: /end it with a dot/ })
  t.match(of(found, 'spf'), { state: 'missing', fault: undefined })
})

t.test('a record at a wrong host is found there', async (t) => {
  const found = await looked('astray.example', (domain) => {
    dns.zones['astray.example'] = { txt: [of(domain.dns, 'dmarc').value, of(domain.dns, 'spf').value] }
    const { host, value } = of(domain.dns, 'dkim')
    dns.zones[host.replace('._domainkey', '')] = { txt: [value] }
  })
  t.match(of(found, 'dmarc'), {
    fault: 'elsewhere',
    problem: 'is at astray.example; it must be at _dmarc.astray.example',
  })
  t.match(of(found, 'dkim'), { fault: 'elsewhere', verified: false })
  t.match(of(found, 'spf'), { state: 'right' })
})

t.test('the record of another key at these hosts is none of the domain', async (t) => {
  const found = await looked('other.example', () => {
    dns.zones['other.example'] = { txt: ['v=DKIM1; k=rsa; p=QUJD', 'v=DMARC2'] }
    dns.zones['_domainkey.other.example'] = { fails: 'servfail' }
  })
  t.match(of(found, 'dkim'), { state: 'missing', fault: undefined })
})

t.test(
  'the name servers of the zone are kept, also those of a parent, and who hosts it is known by them',
  async (t) => {
    dns.zones['parent.example'] = { ns: ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'] }
    dns.zones['_dmarc.parent.example'] = { txt: ['v=DMARC1; p=none'] }
    const { id } = await domains.add({ accountId, name: 'mail.parent.example' })
    t.strictSame(await domains.nameServers(id), [])
    await domains.verify(accountId, 'mail.parent.example', by)
    t.strictSame((await domains.nameServers(id)).toSorted(), ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'])
    dns.zones['parent.example'] = { fails: 'servfail' }
    await domains.verify(accountId, 'mail.parent.example', by)
    t.equal((await domains.nameServers(id)).length, 2, 'a failed query changes nothing')
  },
)

t.test('a long text is given in strings of at most 255 characters', async (t) => {
  const { dns: records } = await domains.add({ accountId, name: 'long.example' })
  const { strings = [], value } = of(records, 'dkim')
  t.ok(strings.length > 1 && strings.every(({ length }) => length <= 255))
  t.equal(strings.join(''), value)
  t.equal(of(records, 'spf').strings, undefined)
  t.equal(of(records, 'spf').provisional, undefined)
})

t.test('values that name a host which no other machine can find are marked', async (t) => {
  const { core } = await makeService(t, { HELO_NAME: 'vm' })
  const { id } = await core.accounts.create('harbour')
  const { dns: records } = await core.domains.add({ accountId: id, name: 'ship.example' })
  t.match(of(records, 'spf'), { value: /include:vm /, provisional: true })
  t.match(of(records, 'returnPath'), { provisional: true })
  t.equal(of(records, 'dkim').provisional, undefined)
})
