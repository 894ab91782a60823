import t, { type Test } from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { moveClock } from '../../helpers/database.ts'
import { erase } from '../../helpers/erase.ts'
import { answer, onBatches, type Received, startReceiver } from '../../helpers/receiver.ts'
import { makeService } from '../../helpers/service.ts'
import { call } from '../call.ts'

interface Field {
  readonly name: string
  readonly value: string | null
}

interface Shown {
  readonly requestId: string
  readonly headers: readonly Field[]
  readonly [name: string]: unknown
}

/** An account with a webhook, and events that are sent at once. */
async function door(t: Test, settings: Record<string, unknown> = {}) {
  const service = await makeService(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const url = await service.openApi()
  const sender = await service.makeSender()
  const { accountId, apiKey } = sender
  const receiver = await startReceiver(t)
  const ask = async (method: string, path: string, body?: Record<string, unknown>) => {
    const { status, json } = await call(url, { method, path, headers: { api_key: apiKey }, ...(body ? { body } : {}) })
    const text = (json?.error_info as { error_message?: string } | null)?.error_message
    return { status, text, data: json?.data as Shown, next: json?.next as number | undefined }
  }
  const made = await ask('POST', '/v2/webhooks', { url: receiver.url, events: 'sent', ...settings })
  const path = `/v2/webhooks/${made.data.webhookId}`
  const deliver = async () => {
    await service.core.webhooks.notice()
    const claimed = (await service.core.webhooks.claim(10)) ?? []
    for (const batch of claimed) await service.core.webhooks.deliver(batch, new AbortController().signal)
    return claimed.length
  }
  const tell = async (recipient = 'mia@harbor.example') => {
    const envelopes = [envelopeTo(recipient)]
    const { messageId } = await acceptMessage(service, sender, { envelopes })
    await happen(service, accountId, { type: 'sent', messageId, detail: { code: 250, reply: 'Ok' } })
    await countAll(service)
    await deliver()
  }
  const list = async (query = '') =>
    (await ask('GET', `${path}/deliveries${query}`)).data as unknown as readonly Shown[]
  const show = async (id: unknown) => (await ask('GET', `${path}/deliveries/${id}`)).data
  return { service, accountId, receiver, ask, path, deliver, tell, list, show }
}

t.test('a request is shown with both sides, as they were', async (t) => {
  const headers = { 'X-Env': 'test', 'X-Token': 'hush' }
  const { receiver, tell, list, show, ask, path } = await door(t, { headers, eventIds: 1 })
  receiver.react = onBatches((_request, response) =>
    response.writeHead(202, { 'x-trace': 'berth 4', 'set-cookie': 'session=hush' }).end(`taken <b>${'é'.repeat(4000)}`),
  )
  await tell()
  const [first] = await list()
  t.match(first, { status: 202, attempt: 1, problem: null, events: 1, firstEvent: Number, milliseconds: Number })
  const shown = await show(first?.requestId)
  const { body, headers: sent } = receiver.batches()[0] as Received
  t.equal(shown.body, body, 'to the octet')
  const fields = Object.fromEntries(shown.headers.map(({ name, value }) => [name, value]))
  t.match(fields, { 'X-Env': 'test', 'X-Token': '***', 'content-type': 'application/json' })
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) t.equal(fields[name], sent[name], name)
  t.match(shown, { state: 'delivered', nextTry: null, missingEvents: 0 })
  const back = shown.answerHeaders as readonly Field[]
  t.match(
    back.filter(({ name }) => /trace|cookie/.test(name)),
    [{ value: 'berth 4' }, { value: '***' }],
  )
  t.match(shown.answer, /^taken <b>é{2043}/, 'the first 4096 octets')
  await ask('PATCH', path, { headers: { 'X-Env': 'other' } })
  const later = await show(first?.requestId)
  t.match(
    later.headers.find(({ name }) => name === 'X-Env'),
    { value: null },
    'a value that was changed since is not shown as the one that was sent',
  )
})

t.test('a request that failed says when it is tried next, and is tried now', async (t) => {
  const { receiver, tell, list, show, ask, path, deliver } = await door(t)
  receiver.react = answer(503)
  await tell()
  const [failed] = await list('?failed=1')
  const waiting = await show(failed?.requestId)
  t.match(waiting, { status: 503, state: 'waiting', problem: 'received status 503' })
  t.ok(Date.parse(String(waiting.nextTry)) > Date.parse(String(failed?.time)))
  receiver.react = answer(200)
  t.equal(await deliver(), 0, 'it is not due')
  const { data } = await ask('POST', `${path}/deliveries/${failed?.requestId}/resend`)
  t.equal(data.batch, failed?.batch)
  t.equal(await deliver(), 1)
  t.match(await list(), [{ status: 200, attempt: 2 }, { status: 503 }])
  t.match(await list('?failed=1'), [{ status: 503 }])
  t.equal((await list('?failed=1')).length, 1)
})

t.test('a request that succeeded is sent again, with the same id and body, and no other', async (t) => {
  const { receiver, tell, list, ask, path, deliver } = await door(t)
  await tell()
  await tell()
  const [, first] = await list()
  await ask('POST', `${path}/deliveries/${first?.requestId}/resend`)
  await deliver()
  const [one, other, again, ...more] = receiver.batches()
  t.strictSame(more, [])
  t.not(again?.headers['webhook-id'], other?.headers['webhook-id'])
  t.equal(again?.headers['webhook-id'], one?.headers['webhook-id'])
  t.equal(again?.body, one?.body)
})

t.test('requests are kept for a week, and an id of none is refused', async (t) => {
  const { service, tell, list, ask, path } = await door(t)
  await tell()
  const [first] = await list()
  await moveClock(service.sql, '167 hours')
  t.equal((await list()).length, 1)
  await moveClock(service.sql, '169 hours')
  t.strictSame(await list(), [])
  for (const id of [first?.requestId, 1]) {
    const refused = await ask('GET', `${path}/deliveries/${id}`)
    t.match(
      [refused.status, refused.text],
      [400, /\[requestId\] is invalid: is not the id of a request of the last 7 days/],
    )
    t.equal((await ask('POST', `${path}/deliveries/${id}/resend`)).status, 400)
  }
  t.match((await ask('GET', `${path}/deliveries?offset=10001`)).text, /\[offset\].*at most 10000/)
  await service.core.webhooks.forgetOld()
  t.equal((await service.sql`select from webhook_deliveries`).length, 0)
})

t.test('of long responses the first hundred of an hour are stored, of the others the beginning', async (t) => {
  const { service, receiver, tell, list, show } = await door(t)
  receiver.react = onBatches((_request, response) => response.end('x'.repeat(10_000)))
  await tell()
  await service.sql`update webhooks set answers_kept = 100`
  await tell()
  const [second, first] = await list()
  t.equal(String((await show(first?.requestId)).answer).length, 4096)
  t.equal(String((await show(second?.requestId)).answer).length, 256)
  await moveClock(service.sql, '1 hour')
  await tell()
  t.equal(String((await show((await list())[0]?.requestId)).answer).length, 4096)
})

t.test('an erased recipient is neither in the body of a request nor in its response', async (t) => {
  const { service, accountId, receiver, tell, list, show } = await door(t)
  receiver.react = onBatches((request, response) => response.end(request.body))
  await tell('lena@harbor.example')
  const [request] = await list()
  t.match(JSON.stringify(await show(request?.requestId)), /lena@harbor.*lena@harbor/)
  await service.sql`
    insert into webhook_deliveries
    select (jsonb_populate_record(d, jsonb_build_object('place', n))).* from webhook_deliveries d, generate_series(100, 5200) n`
  await erase(service.core, accountId, ['lena@harbor.example'])
  t.notMatch(JSON.stringify(await show(request?.requestId)), 'lena@harbor')
  const left = await service.sql`select from webhook_deliveries where position('lena'::bytea in answer) > 0`
  t.equal(left.length, 0, 'nor in those of other requests, more than one transaction clears')
})

t.test('a sample of one kind is sent, also of one that the webhook does not get', async (t) => {
  const { receiver, ask, path } = await door(t)
  for (const [event, sent] of [
    ['bounced', 'bounced'],
    ['open', 'opened'],
    ['spamreport', 'spam'],
  ] as const) {
    t.match((await ask('POST', `${path}/test`, { event })).data, { delivered: true, status: 200 })
    const events = JSON.parse(receiver.batches().at(-1)?.body ?? '[]') as { EVENT: string }[]
    t.ok(
      events.every(({ EVENT }) => EVENT === sent),
      event,
    )
  }
  t.match(await ask('POST', `${path}/test`, { event: 'vanished' }), {
    status: 400,
    text: /Invalid event: vanished\. The events are: sent,/,
  })
})

t.test('a URL that responds 204 is taken, and each probe is signed with the secret that is shown', async (t) => {
  const { receiver, ask } = await door(t)
  receiver.react = answer(204)
  t.equal((await ask('POST', '/v2/webhooks', { url: receiver.url, events: 'delivered' })).status, 200)
  t.match(receiver.requests.at(-1), { method: 'HEAD', headers: { 'webhook-signature': /^v1,/ } })
})

t.test('a program without a URL reads what a webhook would get, from now on or from a number', async (t) => {
  const { ask, tell, receiver } = await door(t, { eventIds: 1 })
  const listen = async (query: string) => {
    const { data, next } = await ask('GET', `/v2/webhooks/listen?eventIds=1&${query}`)
    return { body: data.body as string | null, next }
  }
  const first = await listen('')
  t.equal(first.body, null)
  await tell()
  const { body, next } = await listen(`events=delivered&after=${first.next}`)
  t.equal(body, receiver.batches()[0]?.body, 'to the octet')
  t.match(await listen(`events=sent&after=${next}`), { body: null, next })
  t.match(JSON.parse(String((await listen(`events=sent&format=v3&after=${first.next}`)).body)), [
    { event: 'delivered' },
  ])
  t.equal((await ask('GET', '/v2/webhooks/listen?events=vanished')).status, 400)
})
