import { randomBytes } from 'node:crypto'
import { buildApp } from '@postrider/api'
import { createCore, createLog, OF_MANY } from '@postrider/core'
import t from 'tap'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { call, errorText, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const { sql, core } = service
const sender = await service.makeSender()

interface Result {
  readonly message_id: string | null
  readonly repeated: boolean
  readonly error_info: { readonly error_message: string; readonly error_code: number } | null
}
interface Data {
  readonly accepted: number
  readonly refused: number
  readonly results: readonly Result[]
}

function post(body: unknown, { by = sender, headers = {} }: { by?: Sender; headers?: Record<string, string> } = {}) {
  return call(base, {
    path: '/v2/messages/batch',
    headers: { api_key: by.apiKey, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function sent(messages: readonly unknown[], options?: Parameters<typeof post>[1]): Promise<Data> {
  const answer = await post({ messages }, options)
  if (answer.status !== 200) throw new Error(answer.text.slice(0, 1000))
  return answer.json?.data as unknown as Data
}

/** A message with its own recipient and subject. */
const to = (name: string, extra: Record<string, unknown> = {}) =>
  v2Body(sender, { personalizations: [{ recipient: `${name}@harbor.example` }], subject: `To ${name}`, ...extra })

/** The transactions that wrote these messages. */
async function commitsOf(ids: readonly (string | null)[]): Promise<number> {
  const [row] = await sql<{ commits: number }[]>`
    select count(distinct xmin::text)::int as commits from messages where id = any(${ids as string[]}::uuid[])`
  return row?.commits ?? 0
}

t.test('different messages are accepted by one call and one commit, and answered in their order', async (t) => {
  const data = await sent(['ada', 'bob', 'eve'].map((name) => to(name)))
  t.strictSame([data.accepted, data.refused], [3, 0])
  const found = await Promise.all(data.results.map(({ message_id: id }) => core.messages.show(id ?? '')))
  t.strictSame(
    found.map((one) => [one?.subject, one?.deliveries[0]?.recipient]),
    ['ada', 'bob', 'eve'].map((name) => [`To ${name}`, `${name}@harbor.example`]),
  )
  t.equal(await commitsOf(data.results.map(({ message_id: id }) => id)), 1)
})

t.test('500 messages are one commit, too', async (t) => {
  const { results, accepted } = await sent(Array.from({ length: 500 }, (_, at) => to(`many${at}`)))
  t.equal(accepted, 500)
  t.equal(new Set(results.map(({ message_id: id }) => id)).size, 500)
  t.equal(await commitsOf(results.map(({ message_id: id }) => id)), 1)
})

t.test('each is refused by itself, with the code and words of sendEmail', async (t) => {
  const wrong: readonly Record<string, unknown>[] = [
    { personalizations: [] },
    { from: { fromEmail: 'a@stranger.example' } },
    { subject: '' },
    { templateId: 4711 },
    { tags: [7] },
    { subject: 'Berth\0 4' },
    { personalizations: {} },
  ]
  const bodies = wrong.map((extra) => to('ada', extra))
  const single = await Promise.all(bodies.map((body) => sendV2(base, sender.apiKey, body)))
  const { results, accepted } = await sent([to('first'), ...bodies, to('last'), 7, null, {}])
  t.equal(accepted, 2)
  t.strictSame(
    results.slice(1, 1 + wrong.length).map(({ error_info }) => error_info),
    single.map(({ body }) => body.error_info),
  )
  t.match(
    [results[0], results[wrong.length + 1]],
    [
      { message_id: /^[0-9a-f]{32}$/, error_info: null },
      { message_id: /^[0-9a-f]{32}$/, error_info: null },
    ],
  )
  t.match(results.slice(-3), [
    { message_id: null, error_info: { error_code: 113, error_message: /messages\[9\].*must be an object/ } },
    { message_id: null, error_info: { error_code: 113, error_message: /messages\[10\]/ } },
    { message_id: null, error_info: { error_code: 110 } },
  ])
})

t.test('a message with its own key is sent once, by this call, a later one, or sendEmail', async (t) => {
  const once = { ...to('once'), idempotencyKey: 'berth 4' }
  const first = await sent([once, to('else'), once])
  t.strictSame(
    first.results.map(({ repeated }) => repeated),
    [false, false, true],
  )
  t.equal(first.results[2]?.message_id, first.results[0]?.message_id)
  const second = await sent([to('another'), once])
  t.match(second.results[1], { message_id: first.results[0]?.message_id, repeated: true })
  const single = await sendV2(base, sender.apiKey, to('once'), { 'idempotency-key': 'berth 4' })
  t.equal(single.body.data?.message_id, first.results[0]?.message_id)
  const conflict = await sent([{ ...to('twice'), idempotencyKey: 'berth 4' }])
  t.equal(conflict.results[0]?.error_info?.error_code, 122)
  const many = await sent(
    Array.from({ length: 60 }, (_, at) => ({ ...to('many'), idempotencyKey: `key ${9 - (at % 3)}` })),
  )
  t.strictSame(
    many.results.flatMap(({ repeated }, at) => (repeated ? [] : at)),
    [0, 1, 2],
    'the first of each key is the message',
  )
  const long = await sent([{ ...to('once'), idempotencyKey: 'k'.repeat(300) }])
  t.match(long.results[0]?.error_info?.error_message, /\[idempotencyKey\]/)
})

t.test('a key that cannot be one is refused: of a message for it alone, of the call for all', async (t) => {
  const { results } = await sent([
    to('ada'),
    ...['a\0b', '', 'é'].map((key) => ({ ...to('bob'), idempotencyKey: key })),
  ])
  t.strictSame(
    results.map(({ error_info }) => error_info?.error_code),
    [undefined, 113, 113, 113],
  )
  const longest = 'k'.repeat(252)
  const many = Array.from({ length: 101 }, (_, at) => to(`keyed${at}`))
  t.equal((await sent(many, { headers: { 'idempotency-key': longest } })).accepted, 101)
  for (const key of ['', `${longest}k`])
    refused(t, await post({ messages: many }, { headers: { 'idempotency-key': key } }), [
      400,
      113,
      'Parameter [Idempotency-Key] is invalid: must have 1 to 252 printable ASCII characters',
    ])
})

t.test('what the database refuses is one message, and if it refuses all, the call fails', async (t) => {
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before insert on messages for each row when (new.subject = 'Odd') execute function refuse()`)
  t.teardown(() => sql`drop function refuse cascade`)
  const { results } = await sent([to('ada'), to('bob', { subject: 'Odd' }), to('eve')])
  t.strictSame(
    results.map(({ error_info }) => error_info?.error_code),
    [undefined, 500, undefined],
  )
  for (const at of [0, 2]) t.ok(await core.messages.show(results[at]?.message_id ?? ''))
  refused(t, await post({ messages: [to('bob', { subject: 'Odd' }), to('eve', { subject: 'Odd' })] }), [500, 500])
})

t.test('with the header Idempotency-Key, the whole call can be repeated', async (t) => {
  const headers = { 'idempotency-key': 'the call' }
  const messages = [to('ada'), to('bob')]
  const first = await sent(messages, { headers })
  const again = await sent([...messages, to('eve')], { headers })
  t.strictSame(
    again.results.map(({ repeated }) => repeated),
    [true, true, false],
  )
  t.equal(again.results[1]?.message_id, first.results[1]?.message_id)
})

t.test('unknown members are named with the place of their message', async (t) => {
  const answer = await post({ messages: [to('ada'), to('bob', { shedule: 1 })] })
  t.equal(answer.headers['ignored-parameters'], '"messages[1].shedule"')
})

t.test('a call without 1 to 500 messages is refused as a whole', async (t) => {
  refused(t, await post({}), [400, 110])
  refused(t, await post({ message: [] }), [400, 113])
  refused(t, await post({ messages: [] }), [400, 113, /messages/])
  refused(t, await post({ messages: {} }), [400, 113, /messages/])
  refused(t, await post({ messages: Array.from({ length: 501 }, () => 7) }), [400, 113, /messages.*500/])
})

t.test('messages count one by one against the credit', async (t) => {
  const poor = await service.makeSender()
  await core.credits.limit(poor.accountId, 2)
  const data = await sent(
    ['ada', 'bob', 'eve'].map((name) => v2Body(poor, { personalizations: [{ recipient: `${name}@harbor.example` }] })),
    { by: poor },
  )
  t.strictSame([data.accepted, data.refused], [2, 1])
  t.strictSame(
    data.results.map(({ error_info }) => error_info?.error_code),
    [undefined, undefined, 162],
  )
})

t.test('credit and keys go to the first in the list, whichever is prepared first', async (t) => {
  const poor = await service.makeSender()
  await core.credits.limit(poor.accountId, 1)
  const { accountId } = poor
  const { id: templateId } = await core.templates.create({ accountId, name: 'berth', content: '<p>Your berth</p>' })
  const idempotencyKey = 'berth 5'
  const { results } = await sent(
    [
      // It is looked up.
      v2Body(poor, { content: undefined, templateId, idempotencyKey }),
      v2Body(poor, { idempotencyKey }),
      v2Body(poor),
    ],
    { by: poor },
  )
  t.strictSame(
    results.map(({ error_info }) => error_info?.error_code),
    [undefined, 122, 162],
  )
})

t.test('and against the limit of messages per minute, beyond which the call is refused as a whole', async (t) => {
  const slow = await service.makeSender()
  await core.accounts.limit(slow.accountId, { sendsPerMinute: 3 })
  const fresh = await core.auth.createKey({ accountId: slow.accountId })
  const by = { ...slow, apiKey: fresh.secret }
  const bodies = (count: number) => Array.from({ length: count }, () => v2Body(slow))
  refused(t, await post({ messages: bodies(4) }, { by }), [429, 429, /^Rate limit of 3 messages per minute/])
  const [row] = await sql`select count(*)::int as messages from messages where account_id = ${slow.accountId}`
  t.strictSame(row, { messages: 0 })
})

t.test('a call that the thread for large calls takes over is counted once', async (t) => {
  const { config } = service
  const log = createLog('test', 'silent')
  const ofMany = createCore({ sql, config, log, share: OF_MANY })
  t.teardown(() => ofMany.readiness.close())
  await ofMany.readiness.check()
  const app = await buildApp({ core: ofMany, config, log })
  t.teardown(() => app.close())
  const slow = await service.makeSender()
  const { accountId } = slow
  await core.accounts.limit(accountId, { sendsPerMinute: 3 })
  const { secret } = await core.auth.createKey({ accountId })
  const content = `<p>${'x'.repeat(100_000)}</p>`
  const { id: templateId } = await core.templates.create({ accountId, name: 'large', content })
  const body = JSON.stringify({ messages: [1, 2, 3].map(() => v2Body(slow, { content: undefined, templateId })) })
  const headers = { api_key: secret, 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url: '/v2/messages/batch', headers, body })
  t.match(answer.json(), { data: { accepted: 3 } })
})

t.test('a call of more than 30 MB is taken, one of more than 50 is not', async (t) => {
  // It does not shrink.
  const content = `<p>${randomBytes(350_000).toString('hex')}</p>`
  const { results, accepted } = await sent(Array.from({ length: 50 }, (_, at) => to(`large${at}`, { content })))
  t.equal(accepted, 50, 'of 700 kB each')
  t.ok((await commitsOf(results.map(({ message_id: id }) => id))) > 1, 'by several commits')
  const answer = await post({ messages: [to('ada', { content: 'a'.repeat(50 * 1024 * 1024) })] })
  t.equal(answer.status, 413)
  t.equal(errorText(answer), 'Payload must not exceed 50 MB')
})
