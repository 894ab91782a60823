import { BULK, NORMAL, URGENT } from '@postrider/core'
import t from 'tap'
import { fromShortMessageId } from '../../packages/core/src/submission/message-id.ts'
import { call, JSON_TYPE } from '../api/call.ts'
import { moveClock, stopClock } from '../helpers/database.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { mail } from '../relay/session.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t, { SITE_CONNECTIONS: '3' })
const { service, sender } = internet
const base = `http://127.0.0.1:${service.config.apiPort}`
const HOUR = 3_600_000

/** Class of a queued message, seconds from when it is due to its deadline, and the class that its events tell. */
async function queued(id: string): Promise<{ class: number; seconds: number; told: unknown }> {
  const [row] = await service.sql<{ class: number; seconds: number; told: unknown }[]>`
    select q.class, round(extract(epoch from q.expires_at - m.scheduled_at))::int as seconds,
           (select e.detail->>'class' from events e where e.message_id = m.id and e.type = 'processed' limit 1) as told
      from messages m join delivery_queue q on q.message_id = m.id where m.id = ${id}::uuid`
  if (!row) throw new Error('not queued')
  return row
}

const schedule = () => new Date(Date.now() + HOUR).toISOString()

async function v2(settings: Record<string, unknown>, recipients = 1) {
  const personalizations = Array.from({ length: recipients }, (_, at) => ({ recipient: `r${at}@harbor.example` }))
  const body = v2Body(sender, { settings, schedule: schedule(), personalizations })
  return sendV2(base, sender.apiKey, body)
}

async function v3(headers: Record<string, string>, own?: Record<string, string>) {
  const body = JSON.stringify({
    from: { email: `desk@${sender.domain}` },
    subject: 'Berth 4',
    personalizations: [{ to: [{ email: 'lena@harbor.example' }], ...(own ? { headers: own } : {}) }],
    content: [{ type: 'text/plain', value: 'Ready.' }],
    headers,
    send_at: Math.floor(Date.now() / 1000) + 3600,
  })
  const authorization = `Bearer ${sender.apiKey}`
  return call(base, { path: '/v3/mail/send', body, headers: { ...JSON_TYPE, authorization } })
}

function idOf({ headers }: Awaited<ReturnType<typeof v3>>): string {
  return fromShortMessageId(String(headers['x-message-id'])) as string
}

async function smtp(fields: string): Promise<string> {
  const session = await internet.openRelay(t)
  const directives = `X-SMTPAPI: {"send_at":${Math.floor(Date.now() / 1000) + 3600}}\r\n`
  return session.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, directives + fields))
}

const LIFETIME = 72 * 3600

for (const [name, of, seconds] of [
  ['urgent', URGENT, 1800],
  ['normal', NORMAL, LIFETIME],
  ['bulk', BULK, LIFETIME],
] as const) {
  t.test(`${name} mail is queued as such by v2, v3 and SMTP`, async (t) => {
    const answers = [
      (await v2({ class: name })).body.data?.message_id as string,
      idOf(await v3({ 'X-PR-Class': name })),
      await smtp(`X-PR-Class: ${name}\r\n`),
    ]
    for (const id of answers) {
      const found = await queued(id)
      t.equal(found.class, of)
      t.equal(found.seconds, seconds)
      t.equal(found.told, null)
    }
  })
}

t.test('a message has the deadline it was given, and recipients do not see the header fields', async (t) => {
  const answers = [
    (await v2({ deadline: 600 })).body.data?.message_id as string,
    (await v2({ deadline: '600', class: 'urgent' })).body.data?.message_id as string,
    idOf(await v3({ 'x-pr-deadline': '600' })),
    await smtp('X-PR-DEADLINE: 600\r\n'),
  ]
  for (const id of answers) t.equal((await queued(id)).seconds, 600)
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const session = await internet.openRelay(t)
  await session.submit(
    `desk@${sender.domain}`,
    `lena@${domain}`,
    mail(sender, 'X-PR-Class: bulk\r\nX-PR-Deadline: 600\r\n'),
  )
  await until('the message', () => host.messages.length === 1)
  t.notMatch(String(host.messages[0]?.data), /X-PR-(?:Class|Deadline)/i)
})

t.test('a wrong class or deadline is named by the entry point that was used', async (t) => {
  for (const [settings, parameter] of [
    [{ class: 'fast' }, /settings\.class\] is invalid: must be urgent, normal or bulk/],
    [{ deadline: 59 }, /settings\.deadline\] is invalid: must be a number of seconds from 60 to 259200/],
    [{ deadline: 259_201 }, /settings\.deadline\] is invalid: must be/],
    [{ deadline: 'soon' }, /settings\.deadline\] is invalid: must be/],
  ] as const) {
    const { status, body } = await v2(settings)
    t.equal(status, 400)
    t.match(JSON.stringify(body), parameter)
  }
  t.match((await v3({ 'X-PR-Class': 'fast' })).json, { errors: [{ field: 'headers.X-PR-Class' }] })
  t.match((await v3({ 'X-PR-Deadline': '1e3' })).json, { errors: [{ field: 'headers.X-PR-Deadline' }] })
  const own = await v3({}, { 'X-PR-Class': 'bulk' })
  t.match(own.json, { errors: [{ field: 'personalizations.0.headers.X-PR-Class' }] })
  await t.rejects(smtp('X-PR-Class: fast\r\n'), /X-PR-CLASS\] is invalid: must be urgent, normal or bulk/)
  await t.rejects(smtp('X-PR-Deadline: soon\r\n'), /X-PR-DEADLINE\] is invalid: must be/)
})

t.test('mail without a class has that of its key, or else of its account', async (t) => {
  const account = await service.makeSender()
  const post = (path: string, body: unknown) =>
    call(base, { path, body: JSON.stringify(body), headers: { ...JSON_TYPE, api_key: account.apiKey } })
  const send = async (apiKey: string, settings: Record<string, unknown>) =>
    sendV2(base, apiKey, v2Body(account, { settings, schedule: schedule() }))
  const classOf = async (answer: Awaited<ReturnType<typeof send>>) =>
    (await queued(answer.body.data?.message_id as string)).class
  t.match(await post('/v2/account', { mailClass: 'fast' }), { status: 400 })
  t.match((await post('/v2/account', { mailClass: 'urgent' })).json, { data: { mailClass: 'urgent' } })
  t.match(await post('/v2/keys', { name: 'letters', restrictions: { class: 'fast' } }), { status: 400 })
  const made = await post('/v2/keys', { name: 'letters', scopes: ['send', 'keys'], restrictions: { class: 'bulk' } })
  t.match(made.json, { data: { restrictions: { class: 'bulk' } } })
  const { api_key: key } = (made.json as { data: { api_key: string } }).data
  await until('the account and key to be known', async () => (await classOf(await send(account.apiKey, {}))) === URGENT)
  t.equal(await classOf(await send(key, {})), BULK)
  t.equal(await classOf(await send(key, { class: 'bulk' })), BULK)
  t.equal(await classOf(await send(account.apiKey, { class: 'normal' })), NORMAL)
  const refused = await send(key, { class: 'urgent' })
  t.match(JSON.stringify(refused.body), /send urgent mail/)
  const again = async (of: string) => {
    const first = await send(account.apiKey, { class: of })
    const path = `/v2/messages/${first.body.data?.message_id}/resend`
    return call(base, { path, body: '{}', headers: { ...JSON_TYPE, api_key: key } })
  }
  t.match(JSON.stringify((await again('normal')).json), /send normal mail/)
  t.equal((await again('bulk')).status, 200)
  const within = await call(base, {
    path: '/v2/keys',
    body: JSON.stringify({ name: 'more', restrictions: { class: 'urgent' } }),
    headers: { ...JSON_TYPE, api_key: key },
  })
  t.match(JSON.stringify(within.json), /another class/)
})

t.test('beyond 600 urgent recipients per minute, an account sends normal mail, and its event says so', async (t) => {
  // Both are sent within one minute.
  await stopClock(service.sql)
  t.teardown(() => moveClock(service.sql, '0 minutes'))
  const other = await service.makeSender()
  const send = async (recipients: number): Promise<string> => {
    const personalizations = Array.from({ length: recipients }, (_, at) => ({ recipient: `r${at}@harbor.example` }))
    const body = v2Body(other, { settings: { class: 'urgent' }, schedule: schedule(), personalizations })
    return (await sendV2(base, other.apiKey, body)).body.data?.message_id as string
  }
  t.equal((await queued(await send(400))).class, URGENT)
  const beyond = await queued(await send(400))
  t.equal(beyond.class, NORMAL)
  t.equal(beyond.told, 'normal')
  t.equal(beyond.seconds, LIFETIME)
})

t.test('bulk mail leaves a connection of its site to other mail', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const host = await internet.host(t, { dot: () => (host.messages.length > 0 ? undefined : gate.promise) })
  const domain = internet.domain([host])
  const personalizations = Array.from({ length: 20 }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  await sendV2(base, sender.apiKey, v2Body(sender, { settings: { class: 'bulk' }, personalizations }))
  const begun = () => host.commands.filter((command) => command === 'DATA').length
  await until('two bulk messages to hang', () => begun() === 2)
  await internet.send(`urgent@${domain}`, { settings: { class: 'urgent' } })
  await until('the urgent one to be under way', () => begun() === 3)
  t.ok(host.commands.some((command) => command.includes('<urgent@')))
  gate.resolve(undefined)
  await until('all', () => host.messages.length === 21)
})

t.test('urgent mail that is rejected for now is tried again within seconds', async (t) => {
  let tries = 0
  const host = await internet.host(t, { rcpt: () => (++tries === 1 ? '450 4.2.0 busy' : undefined) })
  const id = await internet.send(`a@${internet.domain([host])}`, { settings: { class: 'urgent' } })
  await internet.inState(id, 'delivered')
  t.equal(tries, 2)
  const deferred = (await internet.story(id)).events.find(({ type }) => type === 'deferred')
  const detail = deferred?.detail as { nextAt: string } | undefined
  const wait = Date.parse(detail?.nextAt ?? '') - Number(deferred?.occurredAt)
  t.ok(wait > 0 && wait <= 12_000, `${wait} ms`)
})

t.test('a message whose deadline has passed before a worker gets it is expired without an attempt', async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const [late, patient] = [
    await internet.send(`a@${domain}`, { settings: { class: 'urgent' }, schedule: schedule() }),
    await internet.send(`b@${domain}`, { schedule: schedule() }),
  ]
  // As if no worker had run for four days.
  await service.sql`
    update delivery_queue set expires_at = now() - interval '1 minute', next_at = now()
     where message_id = any(${[late, patient]}::uuid[])`
  const { attempts } = await internet.inState(late, 'expired')
  t.match(attempts.at(-1)?.reply, /deadline of the message has passed/)
  await internet.inState(patient, 'delivered')
  t.equal(host.messages.length, 1)
})
