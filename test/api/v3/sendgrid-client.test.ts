import { createRequire } from 'node:module'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'

/** `@sendgrid/client`, as its package stands, over the eight operations of the specification and what its users call next. */
interface Client {
  setApiKey(key: string): void
  setDefaultRequest(name: string, value: string): void
  request(request: {
    method: string
    url: string
    body?: unknown
    qs?: unknown
  }): Promise<[{ readonly statusCode: number }, Record<string, unknown>]>
}

const require = createRequire(import.meta.url)
// The client says that the key does not begin like the mirrored service's.
console.warn = () => {}
const { Client } = require('@sendgrid/client') as { Client: new () => Client }
const service = await makeService(t)
const base = await service.openApi()

async function makeClient() {
  const sender = await service.makeSender()
  const client = new Client()
  client.setApiKey(sender.apiKey)
  client.setDefaultRequest('baseUrl', base)
  const call = async (method: string, path: string, body?: unknown, qs?: unknown) => {
    const [{ statusCode }, answered] = await client.request({
      method,
      url: `/v3${path}`,
      ...(body === undefined ? {} : { body }),
      ...(qs === undefined ? {} : { qs }),
    })
    return { status: statusCode, body: answered }
  }
  return { ...sender, call }
}

const ADA = 'ada@example.org'

t.test('the eight operations of the specification', async (t) => {
  const { call, domain } = await makeClient()
  const { body: template } = await call('POST', '/templates', { name: 'Receipt', generation: 'dynamic' })
  const version = await call('POST', `/templates/${template.id}/versions`, {
    name: 'v1',
    subject: 'Order {{number}}',
    html_content: '<p>{{number}}</p>',
    active: 1,
  })
  t.match(version, { status: 201, body: { name: 'v1', active: 1 } })
  const path = `/templates/${template.id}/versions/${version.body.id}`
  t.match(await call('PATCH', path, { subject: 'Your order' }), { status: 200, body: { subject: 'Your order' } })
  t.match(await call('GET', `/templates/${template.id}`), {
    status: 200,
    body: { versions: [{ subject: 'Your order' }] },
  })
  const sent = await call('POST', '/mail/send', {
    personalizations: [{ to: [{ email: ADA }], dynamic_template_data: { number: 7 } }],
    from: { email: `desk@${domain}` },
    template_id: template.id,
    categories: ['receipts'],
  })
  t.equal(sent.status, 202)
  const today = new Date().toISOString().slice(0, 10)
  const stats = await call('GET', '/stats', undefined, { start_date: today, aggregated_by: 'day' })
  t.match(stats, { status: 200, body: [{ stats: [{ metrics: { requests: Number } }] }] })
  t.equal((await call('GET', '/categories', undefined, { limit: 10 })).status, 200)
  const { body: group } = await call('POST', '/asm/groups', { name: 'News', description: 'Monthly' })
  t.match(await call('POST', `/asm/groups/${group.id}/suppressions`, { recipient_emails: [ADA] }), {
    status: 201,
    body: { recipient_emails: [ADA] },
  })
  t.match(await call('POST', '/asm/suppressions/global', { recipient_emails: [ADA] }), {
    status: 201,
    body: { recipient_emails: [ADA] },
  })
})

t.test('what its users call next', async (t) => {
  const { call } = await makeClient()
  const { body: template } = await call('POST', '/templates', { name: 'Bill' })
  const { body: first } = await call('POST', `/templates/${template.id}/versions`, { name: 'a', subject: 's' })
  const { body: second } = await call('POST', `/templates/${template.id}/versions`, { name: 'b', subject: 's' })
  const versions = `/templates/${template.id}/versions`
  t.match(await call('POST', `${versions}/${second.id}/activate`), { status: 200, body: { active: 1 } })
  t.match(await call('GET', `${versions}/${first.id}`), { status: 200, body: { active: 0 } })
  t.equal((await call('DELETE', `${versions}/${first.id}`)).status, 204)
  t.match(await call('PATCH', `/templates/${template.id}`, { name: 'Bills' }), { status: 200, body: { name: 'Bills' } })
  t.match(await call('POST', `/templates/${template.id}`, { name: 'Copy' }), { status: 201, body: { name: 'Copy' } })
  t.match(await call('GET', '/templates', undefined, { generations: 'legacy', page_size: 1 }), {
    status: 200,
    body: { result: [{}], _metadata: { count: 2 } },
  })
  t.equal((await call('DELETE', `/templates/${template.id}`)).status, 204)

  const { body: group } = await call('POST', '/asm/groups', { name: 'News', description: 'Monthly' })
  const suppressions = `/asm/groups/${group.id}/suppressions`
  await call('POST', suppressions, { recipient_emails: [ADA] })
  t.match(await call('GET', '/asm/groups'), { status: 200, body: [{ id: group.id, unsubscribes: 1 }] })
  t.match(await call('PATCH', `/asm/groups/${group.id}`, { name: 'Letters' }), {
    status: 201,
    body: { name: 'Letters' },
  })
  t.same((await call('GET', suppressions)).body, [ADA])
  t.same((await call('POST', `${suppressions}/search`, { recipient_emails: [ADA, 'bob@example.org'] })).body, [ADA])
  t.match(await call('GET', `/asm/suppressions/${ADA}`), { body: { suppressions: [{ suppressed: true }] } })
  t.equal((await call('DELETE', `${suppressions}/${ADA}`)).status, 204)
  await call('POST', '/asm/suppressions/global', { recipient_emails: [ADA] })
  t.same((await call('GET', `/asm/suppressions/global/${ADA}`)).body, { recipient_email: ADA })
  t.match(await call('GET', '/suppression/unsubscribes'), { body: [{ email: ADA }] })
  t.equal((await call('DELETE', `/asm/suppressions/global/${ADA}`)).status, 204)
  for (const list of ['bounces', 'blocks', 'invalid_emails', 'spam_reports', 'unsubscribes']) {
    t.same((await call('GET', `/suppression/${list}`, undefined, { limit: 5 })).body, [], list)
  }
  t.equal((await call('DELETE', '/suppression/bounces', { delete_all: true })).status, 204)

  const { body: batch } = await call('POST', '/mail/batch')
  t.equal((await call('GET', `/mail/batch/${batch.batch_id}`)).status, 200)
  const hold = { batch_id: batch.batch_id, status: 'pause' }
  t.match(await call('POST', '/user/scheduled_sends', hold), { status: 201, body: hold })
  t.same((await call('GET', '/user/scheduled_sends')).body, [hold])
  t.equal((await call('PATCH', `/user/scheduled_sends/${batch.batch_id}`, { status: 'cancel' })).status, 204)
  t.equal((await call('DELETE', `/user/scheduled_sends/${batch.batch_id}`)).status, 204)

  t.match(await call('GET', '/scopes'), { status: 200, body: { scopes: Array } })
  const { body: key } = await call('POST', '/api_keys', { name: 'Mailer', scopes: ['mail.send'] })
  t.match(key, { api_key: String, api_key_id: String })
  t.equal((await call('DELETE', `/api_keys/${key.api_key_id}`)).status, 204)
})
