import t from 'tap'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { asForm, type CallOptions, call, FORM, JSON_TYPE } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()

type Data = Readonly<Record<string, unknown>>

function ask(sender: Sender, path: string, options: CallOptions = {}) {
  return call(url, { ...options, path, headers: { api_key: sender.apiKey, ...options.headers } })
}

async function dataOf(sender: Sender, path: string, body: Record<string, unknown>): Promise<Data> {
  const { status, json, text } = await ask(sender, path, { body })
  if (status !== 200) throw new Error(`${path}: ${text}`)
  return json?.data as Data
}

async function send(sender: Sender, extra: Record<string, unknown> = {}): Promise<string> {
  const { body } = await sendV2(url, sender.apiKey, v2Body(sender, extra))
  if (!body.data) throw new Error(JSON.stringify(body))
  return body.data.message_id
}

/** Requests and audit entries of the account. */
async function traces({ accountId }: Sender): Promise<unknown> {
  const [row] = await service.sql`
    select (select count(*)::int from forget_requests where account_id = ${accountId}) as requests,
           (select count(*)::int from audit_log where account_id = ${accountId} and action like 'privacy.%') as entries`
  return row
}

t.test('forgetPerson', async (t) => {
  await t.test('E37: answers a request that is queued', async (t) => {
    const sender = await service.makeSender()
    const answer = await ask(sender, '/v2/gdpr/forget', { body: { email: 'lena@harbor.example' } })
    t.equal(answer.status, 200)
    t.match(answer.json, {
      data: { requestId: /^gd_[0-9a-f]{32}$/, status: 'queued', emails: 1 },
      message: 'Success',
      error_info: null,
    })
  })

  const email = 'a@x.test,b@x.test'
  const ways: Readonly<Record<string, CallOptions & { path: string }>> = {
    'text of several': { path: '/v2/gdpr/forget', body: { email } },
    'a list': { path: '/v2/gdpr/forget', body: { email: email.split(',') } },
    'spaces and other spellings of one address': {
      path: '/v2/gdpr/forget',
      body: { email: ' a@x.test , B@X.TEST,,"b"@x.test' },
    },
    'a form': { path: '/v2/gdpr/forget', body: asForm({ email }), headers: FORM },
    'a form with brackets': { path: '/v2/gdpr/forget', body: asForm({ email: email.split(',') }), headers: FORM },
    'POST /v2/gdpr': { path: '/v2/gdpr', body: { email } },
    'DELETE /v2/gdpr': { path: '/v2/gdpr', method: 'DELETE', body: { email }, headers: JSON_TYPE },
    'DELETE with a query': { path: `/v2/gdpr?email=${email}`, method: 'DELETE' },
    'v2.1': { path: '/v2.1/gdpr/forget', body: { email } },
  }
  for (const [what, { path, ...options }] of Object.entries(ways)) {
    await t.test(`takes ${what}`, async (t) => {
      const sender = await service.makeSender()
      const answer = await ask(sender, path, options)
      t.match(answer.json, { data: { status: 'queued', emails: 2 } }, answer.text)
    })
  }

  const addresses = (count: number) => Array.from({ length: count }, (_, at) => `r${at}@x.test`)
  const wrong: Readonly<Record<string, readonly [body: unknown, code: number, sentence: RegExp]>> = {
    'X113: no email': [{ foo: 1 }, 113, /^Parameter \[email\] not passed$/],
    'an empty email': [{ email: '' }, 113, /^Parameter \[email\] not passed$/],
    'an empty list': [{ email: [] }, 113, /^Parameter \[email\] not passed$/],
    'a number': [{ email: 7 }, 140, /^Invalid email address/],
    'more than 1,000 addresses': [{ email: addresses(1001) }, 113, /at most 1000 addresses/],
    'X140: no address': [{ email: 'nope' }, 140, /^Invalid email address$/],
    'X140: one bad address among good ones': [{ email: 'a@x.test,b@' }, 140, /^Invalid email address$/],
    'an empty body': ['', 110, /^Blank content/],
    'broken JSON': ['{"email":', 111, /^Invalid JSON/],
  }
  for (const [what, [body, code, sentence]] of Object.entries(wrong)) {
    await t.test(`${what} answers ${code} and changes nothing`, async (t) => {
      const sender = await service.makeSender()
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const answer = await ask(sender, '/v2/gdpr/forget', { body: text, headers: JSON_TYPE })
      t.equal(answer.status, 400)
      t.match(answer.json, {
        error_info: { error_code: code, error_message: sentence },
        message: 'Error in GDPR api call',
      })
      t.same(await traces(sender), { requests: 0, entries: 0 })
    })
  }

  await t.test('takes 1,000 addresses', async (t) => {
    const sender = await service.makeSender()
    t.match(await dataOf(sender, '/v2/gdpr/forget', { email: addresses(1000) }), { emails: 1000 })
  })

  await t.test('is 405 by GET, and 103 for a key of another scope', async (t) => {
    const sender = await service.makeSender()
    t.equal((await ask(sender, '/v2/gdpr', { method: 'GET' })).status, 405)
    const { secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
    const answer = await ask({ ...sender, apiKey: secret }, '/v2/gdpr/forget', { body: { email: 'a@x.test' } })
    t.match(answer.json, { error_info: { error_code: 103 } })
    t.equal(answer.status, 403)
  })

  await t.test('is in the audit log by a keyed hash, and no table has the address in the clear', async (t) => {
    const sender = await service.makeSender()
    const { requestId } = await dataOf(sender, '/v2/gdpr/forget', { email: 'audited@harbor.example' })
    await dataOf(sender, '/v2/gdpr/export', { email: 'Audited@harbor.example' })
    const entries = await service.core.audit.list(sender.accountId, { after: 0, limit: 100 })
    const [forgotten, exported] = entries.slice(-2)
    t.match(forgotten, {
      action: 'privacy.forget',
      object: `request ${requestId}`,
      address: '127.0.0.1',
      keyId: Number,
      after: { addresses: [/^[0-9a-f]{32}$/] },
    })
    const [hash] = (forgotten?.after?.addresses ?? []) as string[]
    t.match(exported, { action: 'privacy.export', object: `address ${hash}` }, 'the same person has the same hash')
    t.notMatch(JSON.stringify(entries), /audited@/i)
    const rows = await service.sql`select r::text from forget_requests r where account_id = ${sender.accountId}`
    t.notMatch(JSON.stringify(rows), /audited|harbor/i, 'what waits to be done is sealed')
  })
})

t.test('showForgetRequest', async (t) => {
  await t.test('answers what was touched once it is done, at both paths', async (t) => {
    const sender = await service.makeSender()
    await send(sender, { personalizations: [{ recipient: 'ida@harbor.example' }] })
    const { requestId } = await dataOf(sender, '/v2/gdpr/forget', { email: 'ida@harbor.example' })
    const queued = await ask(sender, `/v2/gdpr/forget/${requestId}`, { method: 'GET' })
    t.match(queued.json?.data, { requestId, status: 'queued', emails: 1, waiting: 0, receipt: { deliveries: 0 } })
    t.notMatch(queued.text, /completedTime/)
    const done = await until('the request to be done', async () => {
      while (await service.core.privacy.forgetSome());
      const now = await dataOf(sender, '/v2/gdpr/status', { requestId })
      return now.status === 'done' && now
    })
    t.match(done, {
      requestId,
      status: 'done',
      completedTime: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
      waiting: 0,
      receipt: { cancelled: 1, deliveries: 1, attempts: 0, events: 0, messages: 1, bodies: 1, suppressions: 0 },
    })
    const form = await ask(sender, '/v2/gdpr/status', { body: asForm({ requestId: String(requestId) }), headers: FORM })
    t.same(form.json?.data, done)
  })

  for (const requestId of ['gd_00000000000000000000000000000000', 'gd_12', 'nonsense', 'gd_%']) {
    await t.test(`${requestId} answers 190`, async (t) => {
      const answer = await ask(await service.makeSender(), '/v2/gdpr/status', { body: { requestId } })
      t.equal(answer.status, 400)
      t.match(answer.json, { error_info: { error_code: 190, error_message: 'Invalid requestId' } })
    })
  }

  await t.test('without requestId answers 113', async (t) => {
    const answer = await ask(await service.makeSender(), '/v2/gdpr/status', { body: { id: 1 } })
    t.match(answer.json, { error_info: { error_code: 113, error_message: 'Parameter [requestId] not passed' } })
  })
})

t.test('exportPerson', async (t) => {
  await t.test('answers messages, events and opt-outs of one person in this account', async (t) => {
    const [sender, other] = [await service.makeSender(), await service.makeSender()]
    const personalizations = [
      { recipient: 'Vera@harbor.example', 'x-apiheader': 'order-7', attributes: { NAME: 'Vera' } },
      { recipient: 'somebody.else@harbor.example' },
    ]
    const id = await send(sender, { personalizations, subject: 'For Vera', tags: 'berth,confirm' })
    await send(other, { personalizations, subject: 'Of another account' })
    await service.core.suppressions.add({
      accountId: sender.accountId,
      scope: 'address',
      value: 'vera@harbor.example',
      reason: 'unsubscribe',
    })
    const dropped = await send(sender, { personalizations, subject: 'Once more' })
    const first = await dataOf(sender, '/v2/gdpr/export', { email: 'vera@HARBOR.example' })
    const logs = first.logs as Data[]
    t.match(first, {
      email: 'vera@harbor.example',
      webhookEvents: 0,
      suppression: [{ email: 'vera@harbor.example', type: 'email', reason: 'unsubscribe', hashed: false }],
    })
    t.same(
      logs.map(({ messageId, status }) => [messageId, status]),
      [
        [id, 'queued'],
        [dropped, 'dropped'],
      ],
    )
    t.match(logs[0], {
      rcptEmail: 'Vera@harbor.example',
      rcptType: 'to',
      fromaddress: `desk@${sender.domain}`,
      subject: 'For Vera',
      xapiheader: 'order-7',
      tags: 'berth,confirm',
      clientIp: '127.0.0.1',
      trid: Number,
      size: Number,
      requestedTime: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
      personal: { attributes: { NAME: 'Vera' } },
      attempts: [],
      events: [{ type: 'processed' }],
    })
    t.equal(Number(logs[0]?.trid) % 4, 0)
    t.match(logs[1], { reason: 'unsubscribe', events: [{ type: 'dropped', detail: { reason: 'unsubscribe' } }] })
    t.equal(first.next, undefined, 'what waits and what is finished are on one page')
    t.notMatch(JSON.stringify(logs), /somebody|another account/)
  })

  await t.test('leads through any number of messages by `next`, each of them once', async (t) => {
    const sender = await service.makeSender()
    const { accountId } = sender
    const personalizations = [{ recipient: 'many@harbor.example' }]
    const ids: string[] = []
    for (let number = 0; number < 7; number++) ids.push(await send(sender, { personalizations }))
    await service.core.suppressions.add({ accountId, scope: 'address', value: 'many@harbor.example', reason: 'manual' })
    for (let number = 0; number < 7; number++) ids.push(await send(sender, { personalizations }))
    const seen: unknown[] = []
    let next: unknown = ''
    let pages = 0
    do {
      const page = await dataOf(sender, '/v2/gdpr/export', { email: 'many@harbor.example', limit: 3, next })
      const logs = page.logs as Data[]
      t.ok(logs.length <= 3)
      seen.push(...logs.map(({ messageId }) => messageId))
      next = page.next
      pages++
    } while (next !== undefined && pages < 20)
    t.same(seen, ids)
  })

  await t.test('returns nothing about an unknown recipient, and rejects invalid parameters', async (t) => {
    const sender = await service.makeSender()
    t.match(await dataOf(sender, '/v2/gdpr/export', { email: 'nobody@harbor.example' }), { logs: [], suppression: [] })
    const form = await ask(sender, '/v2/gdpr/export', {
      body: asForm({ email: 'nobody@harbor.example' }),
      headers: FORM,
    })
    t.equal(form.status, 200)
    for (const [body, code] of [
      [{ email: 'nope' }, 140],
      [{ foo: 1 }, 113],
      [{ email: 'a@x.test', next: 'elsewhere' }, 113],
      [{ email: 'a@x.test', limit: 'x' }, 113],
    ] as const) {
      const answer = await ask(sender, '/v2/gdpr/export', { body })
      t.equal(answer.status, 400)
      t.match(answer.json, { error_info: { error_code: code }, message: 'Error in GDPR api call' })
    }
    t.equal((await ask(sender, '/v2/gdpr/export?email=a@x.test', { method: 'GET' })).status, 405, 'no address in a URL')
  })
})

t.test('listForgetRequests lists those of the account, newest first, with their progress', async (t) => {
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  t.match((await ask(sender, '/v2/gdpr/forget', { method: 'GET' })).json, { data: [], totalRecords: 0 })
  const ids: unknown[] = []
  for (const name of ['a', 'b', 'c'])
    ids.unshift((await dataOf(sender, '/v2/gdpr/forget', { email: `${name}@x.test` })).requestId)
  await dataOf(other, '/v2/gdpr/forget', { email: 'd@x.test' })
  const listed = async (query: string) => {
    const { json } = await ask(sender, `/v2/gdpr/${query}`, { method: 'GET' })
    const { data, totalRecords } = json as unknown as { data: Data[]; totalRecords: number }
    t.equal(totalRecords, 3)
    return data
  }
  const all = await listed('forget')
  t.strictSame(
    all.map(({ requestId }) => requestId),
    ids,
  )
  t.match(all[0], { status: /^(queued|running|done)$/, emails: 1, receipt: { deliveries: 0 }, waiting: 0 })
  t.strictSame(
    (await listed('requests?limit=1&offset=1')).map(({ requestId }) => requestId),
    [ids[1]],
  )
})
