import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { answer, type Received, startReceiver } from '../../helpers/receiver.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { call, FORM } from '../call.ts'

interface Shown {
  readonly webhookId: number
  readonly secret: string
  readonly [name: string]: unknown
}

async function door(t: Test) {
  const service = await makeService(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const url = await service.openApi()
  const { accountId, apiKey } = await service.makeSender()
  const ask = async (method: string, path: string, body?: Record<string, unknown>) => {
    const { status, json } = await call(url, { method, path, headers: { api_key: apiKey }, ...(body ? { body } : {}) })
    const code = (json?.error_info as { error_code?: number } | null)?.error_code
    const text = (json?.error_info as { error_message?: string } | null)?.error_message
    return { status, code, text, data: json?.data as Shown, json }
  }
  const create = (body: Record<string, unknown>) => ask('POST', '/v2/webhooks', body)
  return { service, url, accountId, apiKey, ask, create }
}

t.test('E38: the url is asked by HEAD, then by a POST of no events, and saved when that answers 200', async (t) => {
  const { create } = await door(t)
  const receiver = await startReceiver(t, ({ method }, response) =>
    response.writeHead(method === 'HEAD' ? 404 : 200).end(),
  )
  const { status, data } = await create({
    url: receiver.url,
    events: 'sent,bounced,opened',
    enabled: 1,
    headers: { 'X-A': 'b' },
  })
  t.equal(status, 200)
  t.match(data, { webhookId: 1, url: receiver.url, events: ['sent', 'bounced', 'opened'], enabled: 1, state: 'active' })
  t.match(data.secret, /^whsec_[\w+/]{43}=$/)
  t.strictSame(
    receiver.requests.map(({ method, body, headers }) => [method, body, headers['x-a']]),
    [
      ['HEAD', '', 'b'],
      ['POST', '[]', 'b'],
    ],
  )
  const [, post] = receiver.requests
  const key = Buffer.from(data.secret.slice('whsec_'.length), 'base64')
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = post?.headers ?? {}
  t.equal(signature, `v1,${createHmac('sha256', key).update(`${id}.${time}.[]`).digest('base64')}`, 'signed already')
})

t.test('tests to a silent receiver keep only their own account from testing', async (t) => {
  const { service, url, ask, create } = await door(t)
  const receiver = await startReceiver(t)
  await create({ url: receiver.url, events: 'sent' })
  const silent: ServerResponse[] = []
  receiver.react = (_request, response) => silent.push(response)
  const tests = Array.from({ length: 4 }, () => ask('POST', '/v2/webhooks/1/test'))
  await until('four tests to be waiting', async () => silent.length === 4)
  t.equal((await ask('POST', '/v2/webhooks/1/test')).status, 503)
  receiver.react = answer(200)
  const { apiKey } = await service.makeSender()
  const body = { url: receiver.url, events: 'sent' }
  t.equal((await call(url, { path: '/v2/webhooks', headers: { api_key: apiKey }, body })).status, 200)
  for (const response of silent) response.end()
  t.strictSame(
    (await Promise.all(tests)).map(({ status }) => status),
    [200, 200, 200, 200],
  )
  t.equal((await ask('POST', '/v2/webhooks/1/test')).status, 200)
})

t.test('a url that answers HEAD with 200 is not asked twice', async (t) => {
  const { create } = await door(t)
  const receiver = await startReceiver(t)
  t.equal((await create({ url: receiver.url, events: 'all' })).status, 200)
  t.strictSame(
    receiver.requests.map(({ method }) => method),
    ['HEAD'],
  )
})

t.test('refusals', async (t) => {
  const { create, ask, apiKey, url: api } = await door(t)
  const receiver = await startReceiver(t)
  const url = receiver.url
  const refusals: [string, Record<string, unknown>, number, RegExp][] = [
    ['no url', { events: 'sent' }, 113, /\[url\] not passed/],
    ['no events', { url }, 113, /\[events\] not passed/],
    ['not http', { url: 'ftp://ship.example/', events: 'sent' }, 200, /^Invalid url: /],
    ['a user name that cannot be read', { url: 'http://u%zz:p@ship.example/', events: 'sent' }, 200, /user name/],
    ['a user name with a colon', { url: 'http://u%3Av:p@ship.example/', events: 'sent' }, 200, /colon/],
    ['no user name before the sign', { url: 'http://@ship.example/', events: 'sent' }, 200, /user name/],
    [
      'an event nobody knows',
      { url, events: 'sent,vanished' },
      201,
      /^Invalid event: vanished\. The events are: sent, .*bounced.*spam.*, all$/,
    ],
    ['no event at all', { url, events: ' , ' }, 201, /Invalid event/],
    ['an event the shape has no name for', { url, events: 'processed' }, 201, /processed/],
    ['a header that is ours', { url, events: 'sent', headers: { Host: 'x' } }, 113, /\[headers\].*Host/],
    ['a header with a line break', { url, events: 'sent', headers: { 'X-A': 'b\r\nc: d' } }, 113, /\[headers\]/],
    ['a signature of their own', { url, events: 'sent', headers: { 'Webhook-Signature': 'x' } }, 113, /\[headers\]/],
    ['another shape', { url, events: 'sent', format: 'v9' }, 113, /\[format\] is invalid: must be v2 or v3$/],
    ['no switch', { url, events: 'sent', enabled: 7 }, 113, /\[enabled\].* true or false, or 1 or 0$/],
  ]
  for (const [what, body, code, text] of refusals) {
    const refused = await create(body)
    t.match([refused.status, refused.code, refused.text], [400, code, text], what)
  }
  t.equal(receiver.requests.length, 0, 'nobody was asked')
  for (const [status, why] of [
    [404, '404'],
    [500, '500'],
    [302, 'redirects are not followed\\. With enabled 0 there is no check$'],
  ] as const) {
    receiver.react = answer(status, { location: 'http://127.0.0.1:1/' })
    const refused = await create({ url, events: 'sent' })
    t.match([refused.code, refused.text], [203, new RegExp(`URL check failed: .*${why}`)], `${status}`)
  }
  receiver.react = (_request, response) => response.socket?.destroy()
  t.match(await create({ url, events: 'sent' }), { code: 203, text: /closed without a response/ })
  t.strictSame((await ask('GET', '/v2/webhooks')).data, [], 'none was saved')
  for (const [method, path, body] of [
    ['GET', '/v2/webhooks/99', undefined],
    ['PATCH', '/v2/webhooks/99', { events: 'sent' }],
    ['DELETE', '/v2/webhooks/99', undefined],
    ['POST', '/v2/webhooks/99/test', {}],
    ['POST', '/v2/webhooks/99/rotate', {}],
    ['GET', '/v2/webhooks/99/deliveries', undefined],
    ['GET', '/v2/webhooks/99/failures', undefined],
    ['POST', '/v2/webhooks/99/redeliver', {}],
    ['POST', '/v2/webhooks/99/replay', { from: 1 }],
  ] as const)
    t.match(await ask(method, path, body), { status: 400, code: 202, text: 'Invalid webhook id' }, `${method} ${path}`)
  const form = { method: 'POST', path: '/v2/webhooks', headers: { api_key: apiKey, ...FORM } }
  const saved = await call(api, { ...form, body: 'url=https%3A%2F%2Fship.example%2F&events=sent%2Cspam&enabled=0' })
  t.match(saved.json, { data: { events: ['sent', 'spam'], enabled: 0, state: 'disabled' } }, 'a form will do')
  const webhookId = (saved.json?.data as Shown | undefined)?.webhookId
  t.match(await ask('POST', `/v2/webhooks/${webhookId}/redeliver`, { failureId: 'x' }), { code: 205 })
  t.match(await ask('POST', `/v2/webhooks/${webhookId}/replay`, { from: 5000 }), { code: 206 })
})

t.test('an account has ten webhooks at most', async (t) => {
  const { create } = await door(t)
  for (let number = 1; number <= 10; number++)
    t.equal((await create({ url: `https://hook${number}.example/`, events: 'sent', enabled: 0 })).status, 200)
  t.match(await create({ url: 'https://hook11.example/', events: 'sent', enabled: 0 }), { status: 400, code: 204 })
})

t.test('a webhook is shown, changed, disabled and removed', async (t) => {
  const { create, ask, service, accountId } = await door(t)
  const receiver = await startReceiver(t)
  const headers = { Authorization: 'Bearer of-a-secret', 'X-A': 'b' }
  const { data: made } = await create({ url: `${receiver.url}?token=abc`, events: ['sent'], headers })
  const path = `/v2/webhooks/${made.webhookId}`
  const { data } = await ask('GET', path)
  t.notOk('secret' in data, 'the secret is shown once')
  t.strictSame(data.headers, { Authorization: '***', 'X-A': 'b' })
  t.match(await ask('GET', '/v2/webhooks'), { data: [data], json: { totalRecords: 1 } })
  t.match(await ask('POST', '/v2/getWebhooks'), { data: [data] })

  const asked = receiver.requests.length
  t.match((await ask('PATCH', path, { events: 'spam,clicked', abuse: 1 })).data, { events: ['clicked', 'abuse'] })
  t.equal(receiver.requests.length, asked, 'its url is the same')
  t.match((await ask('PATCH', path, { enabled: 0 })).data, { enabled: 0, state: 'disabled', problem: null })
  receiver.react = answer(500)
  t.match(await ask('PATCH', path, { enabled: 1 }), { code: 203 }, 'asked again before it is enabled')
  t.match((await ask('GET', path)).data, { enabled: 0 })
  receiver.react = answer(200)
  t.match((await ask('PATCH', path, { enabled: 1, headers: { Authorization: '***', 'X-B': 'c' } })).data, {
    headers: { Authorization: '***', 'X-B': 'c' },
  })
  t.match(receiver.requests.at(-1)?.headers, { authorization: 'Bearer of-a-secret', 'x-b': 'c' }, 'kept as it was')
  t.equal(receiver.requests.at(-1)?.headers['x-a'], undefined)
  t.strictSame((await ask('DELETE', path)).data, {})
  t.match(await ask('GET', path), { code: 202 })

  const log = JSON.stringify(await service.core.audit.list(accountId, { after: 0, limit: 1000 }))
  for (const action of ['create', 'edit', 'remove']) t.match(log, new RegExp(`"webhook.${action}"`))
  t.notMatch(log, /of-a-secret|abc|whsec_/, 'no secret is in the audit log')
  const [row] = await service.sql`select count(*)::int as count from webhooks where headers::text like '%secret%'`
  t.equal(row?.count, 0)
})

t.test('a test sends a sample of each event and answers what the receiver said', async (t) => {
  const { create, ask } = await door(t)
  const receiver = await startReceiver(t)
  const { data } = await create({ url: receiver.url, events: 'all' })
  const path = `/v2/webhooks/${data.webhookId}/test`
  t.match((await ask('POST', path, {})).data, { delivered: true, status: 200, problem: null, answer: 'ok' })
  const events = JSON.parse(receiver.batches()[0]?.body ?? '[]') as { EVENT: string }[]
  t.strictSame(
    new Set(events.map(({ EVENT }) => EVENT)),
    new Set(['sent', 'bounced', 'dropped', 'invalid', 'opened', 'clicked', 'unsubscribed', 'spam']),
  )
  receiver.react = (_request, response) => response.writeHead(500).end('\u001b[31mno\nway')
  t.match((await ask('POST', path, {})).data, { delivered: false, status: 500, answer: ' [31mno way' })
  await receiver.close()
  t.match((await ask('POST', path, {})).data, { delivered: false, status: null, problem: /connection refused/ })
})

t.test(
  'after a rotation requests are signed with both secrets, and with the new one alone when the overlap is over',
  async (t) => {
    const { create, ask } = await door(t)
    const receiver = await startReceiver(t)
    const { data: made } = await create({ url: receiver.url, events: 'sent' })
    const path = `/v2/webhooks/${made.webhookId}`
    const signatures = async () => {
      await ask('POST', `${path}/test`, {})
      const { headers, body } = receiver.batches().at(-1) as Received
      const by = (secret: string) => {
        const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
        const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
        return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
      }
      return { sent: String(headers['webhook-signature']).split(' '), by }
    }
    const { data: second } = await ask('POST', `${path}/rotate`, { overlapHours: 1 })
    const both = await signatures()
    t.strictSame(both.sent, [both.by(second.secret), both.by(made.secret)])
    const { data: third } = await ask('POST', `${path}/rotate`, { overlapHours: 0 })
    const one = await signatures()
    t.strictSame(one.sent, [one.by(third.secret)])
  },
)

t.test('no host of the inside is asked unless the operator allows it', async (t) => {
  const service = await makeService(t)
  const base = await service.openApi()
  const { apiKey } = await service.makeSender()
  const receiver = await startReceiver(t)
  const { port } = receiver
  for (const url of [
    `http://127.0.0.1:${port}/`,
    'http://localhost/',
    'http://[::1]/',
    'https://169.254.169.254/latest/',
  ]) {
    const body = { url, events: 'sent' }
    const refused = await call(base, { path: '/v2/webhooks', headers: { api_key: apiKey }, body })
    t.match(refused.json, { error_info: { error_code: 200, error_message: /^Invalid url: / } }, url)
  }
  t.equal(receiver.requests.length, 0)
})
