import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { proves } from './conformance/proves.ts'
import { refusedBy, sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const base = await service.openApi()
const ALL = '/v3/whitelabel/links'

interface Link {
  readonly id: number
  readonly subdomain: string
}

t.test('hosts of tracked links are listed, shown and validated with the records of their domains', async (t) => {
  proves(t, 'operation.listBrandedLinks', 'operation.viewBrandedLink', 'operation.validateBrandedLink')
  proves(t, 'operation.createBrandedLink')
  const sender = await service.makeSender()
  const client = sendgridClient(base, sender.apiKey)
  const before = await refusedBy(client({ method: 'POST', url: ALL, body: { domain: 'quay.example' } }))
  t.match(before.response.body.errors, [{ message: /POST \/v2\/domain, with envelopeName/, field: 'domain' }])
  await service.core.domains.add({ accountId: sender.accountId, name: 'quay.example', envelopeName: 'go' })
  const [status, made] = await client({ method: 'POST', url: ALL, body: { domain: 'quay.example', default: true } })
  t.equal(status, 201)
  const { id, subdomain } = made as Link
  t.match(made, {
    domain: 'quay.example',
    user_id: sender.accountId,
    default: false,
    valid: false,
    legacy: false,
    dns: { domain_cname: { valid: false, type: 'cname', host: `${subdomain}.quay.example`, data: /./ } },
  })
  const other = await refusedBy(client({ method: 'POST', url: ALL, body: { domain: 'quay.example', subdomain: 'x' } }))
  t.match(other.response.body.errors, [{ message: new RegExp(`${subdomain}.quay.example`), field: 'subdomain' }])
  t.strictSame(await client({ method: 'POST', url: ALL, body: { domain: 'quay.example', subdomain } }), [201, made])
  t.strictSame((await client({ method: 'GET', url: `${ALL}/${id}` }))[1], made)
  const [, all] = await client({ method: 'GET', url: ALL, qs: { limit: 10 } })
  t.ok((all as Link[]).some((link) => link.id === id))
  t.match(await client({ method: 'POST', url: `${ALL}/${id}/validate` }), [
    200,
    { id, valid: false, validation_results: { domain_cname: { valid: false, reason: /./ } } },
  ])
  const stranger = sendgridClient(base, (await service.makeSender()).apiKey)
  for (const [method, url] of [
    ['GET', `${ALL}/${id}`],
    ['POST', `${ALL}/${id}/validate`],
  ] as const) {
    t.equal((await refusedBy(stranger({ method, url }))).code, 404, `${method} ${url}`)
  }
})
