import { EventWebhook } from '@sendgrid/eventwebhook'
import t from 'tap'
import { addEvents, LOOPBACK, runLoops } from '../../delivery/webhook-worker.ts'
import { answer, type Received, startReceiver } from '../../helpers/receiver.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { call as callV2 } from '../call.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { mailBody } from './mail.ts'
import { sendgridClient } from './sendgrid-client.ts'

const ALL = '/user/webhooks/event/settings'
const URL = 'https://hooks.example/here'
const FLAGS = {
  group_resubscribe: false,
  delivered: false,
  group_unsubscribe: false,
  spam_report: false,
  bounce: false,
  deferred: false,
  unsubscribe: false,
  processed: false,
  open: false,
  click: false,
  dropped: false,
}

const service = await makeService(t, LOOPBACK)
const url = await service.openApi()
runLoops(t, service)

async function makeCaller() {
  const sender = await service.makeSender()
  const call = (method: string, path: string, body?: unknown) => ask(url, { method, path, key: sender.apiKey, body })
  const make = async (body: object): Promise<string> => {
    const { status, json, text } = await call('POST', ALL, body)
    if (status !== 201) throw new Error(text)
    return String(json?.id)
  }
  return { sender, call, make }
}

const eventsIn = (requests: readonly Received[]) =>
  requests.flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[])

t.test('a webhook is created, shown, changed and deleted, without a request to its URL', async (t) => {
  proves(t, 'operation.createWebhook', 'operation.viewWebhook', 'operation.editWebhook', 'operation.deleteWebhook')
  proves(t, 'operation.listWebhooks')
  const { call } = await makeCaller()
  const receiver = await startReceiver(t, answer(500))
  const made = await call('POST', ALL, { url: receiver.url, friendly_name: 'Berths', delivered: true, enabled: true })
  t.equal(made.status, 201)
  const id = String(made.json?.id)
  const { created_date: created, updated_date: updated, ...rest } = made.json ?? {}
  t.strictSame(rest, {
    enabled: true,
    url: receiver.url,
    friendly_name: 'Berths',
    ...FLAGS,
    delivered: true,
    oauth_client_id: '',
    oauth_token_url: '',
    id,
  })
  t.match([created, updated], [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, created])
  t.same((await call('GET', `${ALL}/${id}`)).json, made.json)
  const changed = await call('PATCH', `${ALL}/${id}`, { open: true, delivered: false, friendly_name: null })
  t.equal(changed.status, 200)
  t.match(changed.json, { id, url: receiver.url, enabled: true, open: true, delivered: false, friendly_name: '' })
  t.not(changed.json?.updated_date, created)
  t.same((await call('GET', `${ALL}/all`)).json, { max_allowed: 10, webhooks: [changed.json] })
  const gone = await call('DELETE', `${ALL}/${id}`)
  t.strictSame([gone.status, gone.text], [204, ''])
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    refusedV3(t, await call(method, `${ALL}/${id}`, method === 'PATCH' ? {} : undefined), [404, 'resource not found'])
  }
  for (const wrong of ['abc', '0', '99999999999']) {
    refusedV3(t, await call('GET', `${ALL}/${wrong}`), [404, 'resource not found'])
  }
  t.same((await call('GET', `${ALL}/all`)).json, { max_allowed: 10, webhooks: [] })
  t.strictSame(receiver.requests, [])
})

t.test('the calls without an id show and change the oldest webhook', async (t) => {
  proves(t, 'operation.viewOldestWebhook', 'operation.editOldestWebhook')
  const { call, make } = await makeCaller()
  t.match((await call('GET', ALL)).json, { enabled: false, url: '', ...FLAGS })
  refusedV3(t, await call('PATCH', ALL, { enabled: true }), [400, 'url is required.', 'url'])
  const first = await call('PATCH', ALL, { enabled: true, url: URL, bounce: true })
  t.equal(first.status, 200)
  await make({ url: 'https://hooks.example/other' })
  t.match((await call('GET', ALL)).json, { id: first.json?.id, url: URL, bounce: true })
  t.match((await call('PATCH', ALL, { enabled: false })).json, { id: first.json?.id, enabled: false, bounce: true })
  t.equal(((await call('GET', `${ALL}/all`)).json?.webhooks as unknown[] | undefined)?.length, 2)
})

t.test('what cannot be is refused by its field', async (t) => {
  const { call, make } = await makeCaller()
  refusedV3(t, await call('POST', ALL, {}), [400, 'url is required.', 'url'])
  refusedV3(t, await call('POST', ALL, { url: 'ftp://hooks.example/' }), [400, /Invalid url/, 'url'])
  refusedV3(t, await call('POST', ALL, { url: URL, open: 'yes' }), [400, /Expected: boolean/, 'open'])
  refusedV3(t, await call('POST', ALL, { url: URL, oauth_client_id: 'me' }), [400, /OAuth/, 'oauth_client_id'])
  t.equal((await call('POST', ALL, { url: URL, oauth_client_id: '', oauth_token_url: null })).status, 201)
  for (let made = 1; made < 10; made++) await make({ url: URL })
  refusedV3(t, await call('POST', ALL, { url: URL }), [400, /at most 10/])
})

t.test('signing is off by default, and the public key is shown only while it is on', async (t) => {
  proves(t, 'operation.viewOldestWebhookSigning', 'operation.signOldestWebhook', 'operation.viewWebhookSigning')
  proves(t, 'operation.signWebhook')
  const { call, make } = await makeCaller()
  refusedV3(t, await call('GET', `${ALL}/signed`), [404, 'resource not found'])
  const [first, second] = [await make({ url: URL }), await make({ url: URL })]
  t.same((await call('GET', `${ALL}/signed`)).json, { id: first, public_key: '' })
  const signed = await call('PATCH', `${ALL}/signed/${second}`, { enabled: true })
  t.equal(signed.status, 200)
  t.match(signed.json, { id: second, public_key: /^MFkwEwYHKoZIzj0CAQYI/ })
  t.same((await call('GET', `${ALL}/signed/${second}`)).json, signed.json)
  t.match((await call('PATCH', `${ALL}/signed`, { enabled: true })).json, { id: first, public_key: /^MFkw/ })
  t.same((await call('PATCH', `${ALL}/signed`, { enabled: false })).json, { id: first, public_key: '' })
  refusedV3(t, await call('PATCH', `${ALL}/signed/${second}`, {}), [400, /required/, 'enabled'])
  refusedV3(t, await call('GET', `${ALL}/signed/999999`), [404, 'resource not found'])
})

t.test('P49: @sendgrid/eventwebhook verifies the signature over the raw body', async (t) => {
  proves(t, 'event-webhook', 'operation.signWebhook')
  const { sender, call, make } = await makeCaller()
  const receiver = await startReceiver(t)
  const id = await make({ url: receiver.url, enabled: true, ...FLAGS, delivered: true, bounce: true, processed: true })
  const { json } = await call('PATCH', `${ALL}/signed/${id}`, { enabled: true })
  const at = Math.floor(Date.now() / 1000) + 3600
  const sent = await call('POST', '/mail/send', mailBody(sender, { categories: ['receipts'], send_at: at }))
  t.equal(sent.status, 202, sent.text)
  const lists = { tags: ['<a>', 'receipts'] }
  const reply = { host: 'mx.harbor.example', tls: 'TLSv1.3', code: 250, enhanced: '2.0.0', reply: 'Ok' }
  await addEvents(service, sender, 2, { detail: reply, ...lists })
  const refused = {
    host: 'mx.harbor.example',
    code: 550,
    enhanced: '5.1.1',
    reply: 'no such user',
    class: 'bad-mailbox',
  }
  await addEvents(service, sender, 1, { type: 'bounced', detail: refused, ...lists })
  await until('all events', () => eventsIn(receiver.batches()).length === 4)

  const verifier = new EventWebhook()
  const key = verifier.convertPublicKeyToECDSA(String(json?.public_key))
  for (const { headers, body } of receiver.batches()) {
    const signature = String(headers['x-twilio-email-event-webhook-signature'])
    const time = String(headers['x-twilio-email-event-webhook-timestamp'])
    t.ok(verifier.verifySignature(key, body, signature, time))
    t.notOk(verifier.verifySignature(key, body.trimEnd(), signature, time), 'the last line break counts')
    t.equal(headers['content-type'], 'application/json')
    t.match(body, /^\[\{.*\}\]\r\n$/s)
    t.notMatch(body, /[<>]|\},\{/)
  }
  const events = eventsIn(receiver.batches())
  const processed = events.find(({ event }) => event === 'processed')
  t.equal(String(processed?.sg_message_id).split('.')[0], sent.headers['x-message-id'])
  t.equal(processed?.send_at, at)
  t.match(processed, {
    email: 'lena@harbor.example',
    category: ['receipts'],
    'smtp-id': /^<[0-9a-f]{32}\.0@ship\d+\.example>$/,
  })
  t.match(
    events.filter(({ event }) => event === 'delivered'),
    [{ response: '250 2.0.0 Ok', tls: 1, category: ['<a>', 'receipts'] }, { email: 'r1@harbor.example' }],
  )
  t.match(
    events.find(({ event }) => event === 'bounce'),
    {
      type: 'bounce',
      status: '5.1.1',
      reason: '550 5.1.1 no such user',
      tls: 0,
      bounce_classification: 'Invalid Address',
    },
  )
  t.equal(new Set(events.map(({ sg_event_id }) => sg_event_id)).size, 4)
})

t.test('each flag enables its own event, and no other', async (t) => {
  const { sender, call, make } = await makeCaller()
  const receivers = {
    unsubscribe: await startReceiver(t),
    group_unsubscribe: await startReceiver(t),
    group_resubscribe: await startReceiver(t),
  }
  for (const [flag, receiver] of Object.entries(receivers)) await make({ url: receiver.url, [flag]: true })
  const off = await startReceiver(t)
  await make({ url: off.url, unsubscribe: true, enabled: false })
  const reader = { userAgent: 'Mozilla/5.0', ip: '192.0.2.9' }
  await addEvents(service, sender, 1, { type: 'unsubscribed', detail: { ...reader, group: 7 } })
  await addEvents(service, sender, 1, { type: 'unsubscribed', detail: reader })
  await addEvents(service, sender, 1, { type: 'resubscribed', detail: reader })
  await addEvents(service, sender, 1, { type: 'resubscribed', detail: { ...reader, group: 7 } })
  await addEvents(service, sender, 1, { type: 'opened', detail: reader })
  for (const { batches } of Object.values(receivers)) await until('the event', () => batches().length > 0)
  const told = Object.values(receivers).map(({ batches }) => eventsIn(batches()))
  t.match(told, [
    [{ event: 'unsubscribe', useragent: 'Mozilla/5.0', ip: '192.0.2.9' }],
    [{ event: 'group_unsubscribe', asm_group_id: 7, useragent: 'Mozilla/5.0' }],
    [{ event: 'group_resubscribe', asm_group_id: 7, useragent: 'Mozilla/5.0' }],
  ])
  t.strictSame([...told.map(({ length }) => length), off.requests.length], [1, 1, 1, 0])
  const [request] = receivers.unsubscribe.batches()
  t.notOk(request?.headers['x-twilio-email-event-webhook-signature'], 'not signed unless asked')
  t.match((await call('GET', `${ALL}/all`)).json?.webhooks, [
    { unsubscribe: true, group_unsubscribe: false },
    { unsubscribe: false, group_unsubscribe: true },
    { group_resubscribe: true, unsubscribe: false },
    { enabled: false },
  ])
})

t.test('a block is a bounce that says nothing about the address', async (t) => {
  const { sender, make } = await makeCaller()
  const receiver = await startReceiver(t)
  await make({ url: receiver.url, bounce: true })
  const bounce = (name: string) =>
    addEvents(service, sender, 1, { type: 'bounced', detail: { code: 550, class: name } })
  for (const name of ['bad-domain', 'moved', 'mailbox-inactive', 'spam']) await bounce(name)
  await addEvents(service, sender, 1, { type: 'expired', detail: { code: 451 } })
  await until('all events', () => eventsIn(receiver.batches()).length === 5)
  t.strictSame(
    eventsIn(receiver.batches()).map(({ type }) => type),
    ['bounce', 'bounce', 'blocked', 'blocked', 'blocked'],
  )
})

t.test('a technical bounce is called Technical in events', async (t) => {
  const { sender, make } = await makeCaller()
  const receiver = await startReceiver(t)
  await make({ url: receiver.url, bounce: true })
  for (const name of ['relay', 'protocol', 'network', 'spam', 'other']) {
    await addEvents(service, sender, 1, { type: 'bounced', detail: { code: 550, class: name } })
  }
  await until('all events', () => eventsIn(receiver.batches()).length === 5)
  t.strictSame(
    eventsIn(receiver.batches()).map((event) => event.bounce_classification),
    ['Technical', 'Technical', 'Technical', 'Reputation', 'Unclassified'],
  )
})

t.test('events of a message with a template name the template, also an unknown one', async (t) => {
  proves(t, 'event-template')
  const { sender, call, make } = await makeCaller()
  const receiver = await startReceiver(t)
  await make({ url: receiver.url, processed: true, dropped: true })
  const made = await call('POST', '/templates', { name: 'Receipt', generation: 'dynamic' })
  const id = String(made.json?.id)
  await call('POST', `/templates/${id}/versions`, { name: 'v1', subject: 's', plain_content: 'p', active: 1 })
  const unknown = `d-${'0'.repeat(32)}`
  const args = { custom_args: { sg_template_name: 'mine' } }
  t.equal((await call('POST', '/mail/send', mailBody(sender, { template_id: id, ...args }))).status, 202)
  t.equal((await call('PATCH', `/templates/${id}`, { name: 'Renamed' })).status, 200)
  t.equal((await call('POST', '/mail/send', mailBody(sender, { template_id: unknown }))).status, 202)
  t.equal((await call('POST', '/mail/send', mailBody(sender))).status, 202)
  await until('all events', () => eventsIn(receiver.batches()).length === 3)
  t.strictSame(
    eventsIn(receiver.batches()).map((event) => [event.event, event.sg_template_id, event.sg_template_name]),
    [
      ['processed', id, 'Receipt'],
      ['dropped', unknown, undefined],
      ['processed', undefined, undefined],
    ],
  )
})

t.test('every event of a mail of a group tells the group', async (t) => {
  const { sender, call, make } = await makeCaller()
  const receiver = await startReceiver(t)
  await make({ url: receiver.url, processed: true })
  const group = (await call('POST', '/asm/groups', { name: 'News', description: 'Monthly' })).json?.id
  t.equal((await call('POST', '/mail/send', mailBody(sender, { asm: { group_id: group } }))).status, 202)
  await until('the event', () => receiver.batches().length > 0)
  t.match(eventsIn(receiver.batches()), [{ event: 'processed', asm_group_id: group }])
})

t.test('a sample of each event is posted to the given URL, signed like the events of the webhook', async (t) => {
  proves(t, 'operation.testWebhook')
  const { call, make } = await makeCaller()
  const receiver = await startReceiver(t, answer(500))
  const path = '/user/webhooks/event/test'
  t.equal((await call('POST', path, { url: receiver.url })).status, 204, 'whatever it answers')
  const id = await make({ url: URL })
  const { json } = await call('PATCH', `${ALL}/signed/${id}`, { enabled: true })
  const done = await call('POST', path, { url: receiver.url, id })
  t.strictSame([done.status, done.text], [204, ''])
  const [unsigned, signed] = receiver.batches() as [Received, Received]
  t.notOk(unsigned.headers['x-twilio-email-event-webhook-signature'])
  const { 'x-twilio-email-event-webhook-signature': signature, 'x-twilio-email-event-webhook-timestamp': time } =
    signed.headers
  const verifier = new EventWebhook()
  const key = verifier.convertPublicKeyToECDSA(String(json?.public_key))
  t.ok(verifier.verifySignature(key, signed.body, String(signature), String(time)))
  const names = new Set(eventsIn([signed]).map(({ event }) => event))
  for (const name of ['processed', 'delivered', 'deferred', 'bounce', 'dropped', 'open', 'click', 'unsubscribe']) {
    t.ok(names.has(name), name)
  }
  await receiver.close()
  refusedV3(t, await call('POST', path, { url: receiver.url }), [400, /URL check failed/, 'url'])
  refusedV3(t, await call('POST', path, { url: receiver.url, id: '999999' }), [404, 'resource not found'])
})

t.test('what was made through v2 in the v3 shape is told here too, and its events may be chosen there', async (t) => {
  const { sender, call, make } = await makeCaller()
  const v2 = { asText: false, abuse: false, eventIds: true, headers: {}, enabled: true, label: '', signed: true }
  const add = (format: 'v2' | 'v3') =>
    service.core.webhooks.create(
      sender.accountId,
      { ...v2, url: URL, format, events: ['sent', 'unsubscribed'], names: null },
      undefined,
      { ask: false },
    )
  await add('v2')
  const { webhook } = await add('v3')
  const all = (await call('GET', `${ALL}/all`)).json?.webhooks
  t.match(all, [{ id: String(webhook.id), delivered: true, unsubscribe: true, group_unsubscribe: true, open: false }])
  t.equal((all as unknown[]).length, 1)
  const id = Number(await make({ url: URL, group_unsubscribe: true }))
  const headers = { api_key: sender.apiKey }
  const body = { events: 'open,unsubscribe' }
  t.equal((await callV2(url, { method: 'PATCH', path: `/v2/webhooks/${id}`, headers, body })).status, 200)
  const shown = (await call('GET', `${ALL}/${id}`)).json
  t.match(shown, { open: true, unsubscribe: true, group_unsubscribe: true, delivered: false })
  await call('PATCH', `${ALL}/${id}`, { open: false, unsubscribe: false })
  const act = { accountId: sender.accountId, id }
  const changed = await service.core.webhooks.update(act, { format: 'v2' }, { ask: false })
  t.match(changed, { names: null, events: ['unsubscribed'] })
})

t.test('every change is in the audit log', async (t) => {
  const { sender, call, make } = await makeCaller()
  const id = await make({ url: `${URL}?token=secret`, open: true })
  await call('PATCH', `${ALL}/signed/${id}`, { enabled: true })
  await call('DELETE', `${ALL}/${id}`)
  const entries = await auditOf(sender)
  t.strictSame(
    entries.map(({ action }) => action),
    ['webhook.create', 'webhook.edit', 'webhook.remove'],
  )
  t.match(entries[1], { before: { signed: false }, after: { signed: true } })
  t.notMatch(JSON.stringify(entries), /token=secret/)
})

t.test('neither settings nor a test reach an inner host, unless the operator allows it', async (t) => {
  const guarded = await makeService(t)
  const base = await guarded.openApi()
  const { apiKey: key } = await guarded.makeSender()
  const receiver = await startReceiver(t)
  const body = { url: receiver.url }
  for (const path of [ALL, '/user/webhooks/event/test']) {
    refusedV3(t, await ask(base, { method: 'POST', path, key, body }), [400, /Invalid url/, 'url'], path)
  }
  t.strictSame(receiver.requests, [])
})

async function auditOf({ accountId }: Sender): Promise<{ action: string; before: unknown; after: unknown }[]> {
  return service.sql`
    select action, before, after from audit_log where account_id = ${accountId} and action like 'webhook.%' order by number`
}

t.test('@sendgrid/client sets a webhook up', async (t) => {
  const { sender } = await makeCaller()
  const request = sendgridClient(url, sender.apiKey)
  const [status, made] = await request({ method: 'POST', url: `/v3${ALL}`, body: { url: URL, click: true } })
  t.equal(status, 201)
  const { id } = made as { id: string }
  const signing = { method: 'PATCH', url: `/v3${ALL}/signed/${id}`, body: { enabled: true } } as const
  t.match(await request(signing), [200, { id, public_key: /^MFkw/ }])
  t.match(await request({ method: 'GET', url: `/v3${ALL}/all` }), [200, { webhooks: [{ id, click: true }] }])
  t.match(await request({ method: 'DELETE', url: `/v3${ALL}/${id}` }), [204, ''])
})
