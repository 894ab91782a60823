import type { ReceiverRequirements } from '@postrider/core'
import t from 'tap'
import { call } from '../call.ts'
import { type ShownDomain, startDomains } from './domain.ts'

const test = await startDomains(t)
const { service, url, done, newName, publish } = test
const { apiKey } = await service.makeSender()

type Shown = ShownDomain & { readonly receivers?: readonly ReceiverRequirements[] }

async function listed(path: string): Promise<{ readonly domains: readonly Shown[]; readonly total: unknown }> {
  const { json } = await call(url, { path: `/v2/${path}`, headers: { api_key: apiKey }, method: 'GET' })
  return { domains: (json?.data ?? []) as Shown[], total: json?.totalRecords }
}

/** The demands that are missing, by receiver. */
function missing({ receivers = [] }: Shown): Record<string, string[]> {
  const names = ({ requirements }: ReceiverRequirements) =>
    requirements.filter(({ state }) => state === 'missing').map(({ name }) => name)
  return Object.fromEntries(receivers.map((one) => [one.receiver, names(one)]))
}

t.test('verify shows what large receivers demand, and so does a list of one domain by its name', async (t) => {
  const domain = newName()
  const added = await done(apiKey, 'domain', { domain })
  t.notOk('receivers' in added, 'nothing was looked up yet')
  publish(added, 'dkim', 'spf')
  const verified = await done<Shown>(apiKey, 'domain/verify', { domain })
  const lacks = { google: ['dmarc'], yahoo: ['dmarc'], microsoft: ['dmarc'] }
  t.strictSame(missing(verified), lacks)
  const [google] = verified.receivers ?? []
  t.match(google, { label: 'Gmail', bulkFrom: 5000, sources: [{ address: /^https:/, read: /^\d{4}-/ }] })
  t.match(google?.requirements, [
    { name: 'spf', senders: 'bulk', state: 'right' },
    { name: 'dkim', state: 'right' },
    { name: 'dmarc', state: 'missing', problem: /^no DMARC record/, remedy: /v=DMARC1; p=none/ },
  ])
  const { domains, total } = await listed(`domain/getDomains?domain=${domain}`)
  t.strictSame(domains.map(missing), [lacks])
  t.equal(total, 1)
  const { receivers: _, ...known } = verified
  t.strictSame(Object.keys(known), Object.keys(added), 'all else stays')
})

t.test('a list of all domains has none of this, which is read from the mail of each', async (t) => {
  const { domains } = await listed('domains')
  t.ok(domains.length > 0)
  t.notOk(domains.some((one) => 'receivers' in one))
})
