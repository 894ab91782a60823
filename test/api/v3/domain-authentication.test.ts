import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t)
const base = await service.openApi()
const ALL = '/whitelabel/domains'

async function makeCaller() {
  const sender = await service.makeSender()
  const call = (method: string, path: string, body?: unknown) =>
    ask(base, { method, path, key: sender.apiKey, ...(body === undefined ? {} : { body }) })
  return { sender, call }
}

t.test('domains are added, listed, validated and deleted, with the records to publish', async (t) => {
  proves(t, 'operation.authenticateDomain', 'operation.listAuthenticatedDomains', 'operation.viewAuthenticatedDomain')
  proves(t, 'operation.validateDomain', 'operation.deleteAuthenticatedDomain')
  const { sender, call } = await makeCaller()
  const made = await call('POST', ALL, { domain: 'Quay.example', automatic_security: true, subdomain: 'em', ips: [] })
  t.equal(made.status, 201, made.text)
  const id = Number(made.json?.id)
  const record = (type: string, host: RegExp | string, data: RegExp) => ({ valid: false, type, host, data })
  t.match(made.json, {
    user_id: sender.accountId,
    domain: 'quay.example',
    valid: false,
    legacy: false,
    default: false,
    automatic_security: false,
    custom_spf: false,
    ips: [],
    subdomain: /^[\w-]+$/,
    dns: {
      dkim: record('txt', /^[\w-]+\._domainkey\.quay\.example$/, /^v=DKIM1;.* p=/),
      domain_spf: record('txt', 'quay.example', /^v=spf1 include:/),
      mail_cname: record('cname', `${made.json?.subdomain}.quay.example`, /./),
      dmarc: record('txt', '_dmarc.quay.example', /^v=DMARC1/),
    },
  })
  t.strictSame((await call('GET', `${ALL}/${id}`)).json, made.json)
  const all = await call('GET', ALL)
  t.match(all.json, [{ domain: 'quay.example' }, { domain: sender.domain, valid: true }])
  t.match(all.headers.link, /rel="first"/)
  t.strictSame((await call('GET', `${ALL}?domain=quay.example`)).json, [made.json])
  t.strictSame((await call('GET', `${ALL}?limit=1&offset=1`)).json, (all.json as unknown as unknown[]).slice(1))
  const validated = await call('POST', `${ALL}/${id}/validate`)
  t.match(validated.json, {
    id,
    valid: false,
    validation_results: { dkim: { valid: false, reason: /./ }, mail_cname: { valid: false } },
  })
  refusedV3(t, await call('POST', ALL, { domain: 'quay.example' }), [400, /already added/, 'domain'])
  refusedV3(t, await call('POST', ALL, { domain: 'no domain' }), [400, /Invalid domain/, 'domain'])
  refusedV3(t, await call('POST', ALL, {}), [400, /required/, 'domain'])
  t.equal((await call('DELETE', `${ALL}/${id}`)).status, 204)
  const { call: stranger } = await makeCaller()
  const own = (all.json as unknown as { id: number }[])[1]?.id
  for (const [asked, path] of [
    [call, `${ALL}/${id}`],
    [stranger, `${ALL}/${own}`],
    [call, `${ALL}/x`],
  ] as const)
    for (const method of ['GET', 'DELETE']) t.equal((await asked(method, path)).status, 404, `${method} ${path}`)
  t.equal((await stranger('POST', `${ALL}/${own}/validate`)).status, 404)
})

t.test('single senders and hosts of incoming mail are none, and creating one says why', async (t) => {
  proves(t, 'operation.listVerifiedSenders', 'operation.viewVerificationSteps', 'operation.createVerifiedSender')
  proves(t, 'operation.listParseSettings', 'operation.createParseSetting')
  const { sender, call } = await makeCaller()
  t.strictSame((await call('GET', '/verified_senders')).json, { results: [] })
  const steps = async () => (await call('GET', '/verified_senders/steps_completed')).json
  t.strictSame(await steps(), { results: { sender_verified: false, domain_verified: true } })
  await service.core.domains.remove(sender.accountId, sender.domain, OPERATOR)
  t.strictSame(await steps(), { results: { sender_verified: false, domain_verified: false } })
  refusedV3(t, await call('POST', '/verified_senders', { from_email: 'a@gmail.com' }), [
    400,
    /whitelabel\/domains/,
    null,
  ])
  t.strictSame((await call('GET', '/user/webhooks/parse/settings')).json, { result: [] })
  const host = { hostname: 'in.quay.example', url: 'https://quay.example/in' }
  refusedV3(t, await call('POST', '/user/webhooks/parse/settings', host), [400, /not received/, null])
})
