import t from 'tap'
import { call } from '../api/call.ts'
import { tablesWith } from '../helpers/dump.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { SinkStep } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t)
const { service, sender, worker } = internet
const base = `http://127.0.0.1:${service.config.apiPort}`

interface Status {
  readonly status: string
  readonly completedTime?: string
  readonly waiting: number
  readonly receipt: Readonly<Record<string, number>>
}

async function ask(path: string, body: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { status, json, text } = await call(base, { path, headers: { api_key: sender.apiKey }, body })
  if (status !== 200) throw new Error(`${path}: ${text}`)
  return json?.data as Record<string, unknown>
}

async function statusOf(requestId: unknown): Promise<Status> {
  return (await ask('/v2/gdpr/status', { requestId: String(requestId) })) as unknown as Status
}

async function forget(...emails: string[]): Promise<string> {
  return String((await ask('/v2/gdpr/forget', { email: emails })).requestId)
}

function done(requestId: string): Promise<Status> {
  return until(
    'the request to be done',
    async () => {
      const status = await statusOf(requestId)
      return status.status === 'done' && status
    },
    30_000,
  )
}

/** How many rows of each kind there are. */
async function counts(): Promise<unknown> {
  const [messages, states, outcomes, types] = await Promise.all([
    service.sql`select account_id, recipients, count(*)::int from messages group by 1, 2 order by 1, 2`,
    service.sql`select account_id, state, kind, count(*)::int from deliveries group by 1, 2, 3 order by 1, 2, 3`,
    service.sql`select account_id, outcome, code, count(*)::int from attempts group by 1, 2, 3 order by 1, 2, 3`,
    service.sql`select account_id, type, count(*)::int from events group by 1, 2 order by 1, 2`,
  ])
  return [messages, states, outcomes, types].map((rows) => [...rows])
}

/** Says no to whoever is named `gone`, later to whoever is named `late`, and quotes them. */
function quoting({ command, before }: SinkStep): string | undefined {
  const address = /<(.*)>/.exec(command)?.[1] ?? ''
  if (address.includes('gone')) return `550 5.1.1 <${address.toUpperCase()}>: no such user ${address}`
  if (address.includes('late') && before === 0) return `451 4.7.1 ${address} is greylisted`
  return undefined
}

t.test('a person who was forgotten is nowhere in the database, and the counts are what they were', async (t) => {
  const host = await internet.host(t, { rcpt: quoting, dot: ({ message }) => `250 2.0.0 for ${message.to[0]}` })
  const domain = internet.domain([host])
  const [lena, gone, other] = [`Lena.Moss@${domain}`, `gone.moss@${domain}`, `mina@${domain}`]
  const secret = 'a-word-for-lena-alone'
  const personalizations = (recipient: string) => [
    {
      recipient,
      'x-apiheader': `order-of-${recipient}`,
      attributes: { NAME: secret, MAIL: recipient },
      'x-headers': { 'X-Person': recipient },
    },
  ]
  const alone = await internet.send(lena, {
    personalizations: personalizations(lena),
    subject: `For ${secret}`,
    tags: `berth,user:${lena}`,
    content: `<p>[%NAME%], ${lena}</p>`,
  })
  const bounced = await internet.send(gone, { personalizations: personalizations(gone) })
  const deferred = await internet.send(`late.moss@${domain}`)
  const shared = await internet.send(other, {
    personalizations: [{ recipient: other, recipient_cc: [lena], attributes: { NAME: 'Mina' } }],
    subject: 'For both',
    content: `<p>Dear ${lena}</p>`,
  })
  const relay = await internet.openRelay(t)
  const from = `desk@${sender.domain}`
  const relayed = await relay.submit(
    from,
    [lena, other],
    `From: ${from}\r\nTo: ${lena}, ${other}\r\nSubject: Relayed to ${lena}\r\n\r\nHello ${lena}.\r\n`,
  )
  const untouched = await internet.send(other, { subject: 'For Mina' })
  await internet.inState(alone, 'delivered')
  await internet.inState(bounced, 'bounced')
  await internet.inState(deferred, 'deferred')
  await internet.inState(untouched, 'delivered')
  for (const id of [shared, relayed]) for (const no of [0, 1]) await internet.inState(id, 'delivered', no)
  await internet.advance(10)
  await internet.inState(deferred, 'delivered')
  for (const address of [lena, gone, `late.moss@${domain}`]) {
    t.ok((await tablesWith(service.sql, address)).length >= 3, 'he is in many tables')
  }
  const before = await counts()

  const request = await forget(lena, gone, `late.moss@${domain}`)
  const status = await done(request)
  for (const address of [lena, gone, `late.moss@${domain}`]) t.same(await tablesWith(service.sql, address), [])
  t.same(await tablesWith(service.sql, secret), [], 'nor his attributes, nor his subject')
  t.same(await counts(), before)
  t.match(status, { status: 'done', completedTime: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/, waiting: 0 })
  t.match(status.receipt, { cancelled: 0, deliveries: 5, attempts: 6, messages: 5, bodies: 5 })

  const story = await internet.story(alone)
  t.match(story, { subject: '', tags: ['berth'] })
  t.match(story.deliveries[0], { state: 'delivered', recipient: /^forgotten-[0-9a-f]{20}$/, reference: null })
  t.match(story.deliveries[0]?.attempts[0], { outcome: 'delivered', code: 250, reply: null, conversation: null })
  t.match((await internet.story(bounced)).events.at(-1), { type: 'bounced', detail: { code: 550, enhanced: '5.1.1' } })
  const both = await internet.story(shared)
  t.equal(both.subject, 'For both', "what is shared stays the others'")
  t.equal(both.deliveries[0]?.recipient, other)
  t.equal((await internet.story(relayed)).subject, '', 'unless it names him')
  t.match(await internet.story(untouched), { subject: 'For Mina', deliveries: [{ recipient: other }] })
  const bodies = await service.sql`select from bodies where message_id = ${untouched}::uuid`
  t.equal(bodies.length, 1, "another's message is whole")
  const exported = await ask('/v2/gdpr/export', { email: lena })
  t.match(exported, { logs: [], suppression: [] }, 'there is nothing to tell of him any more')
  for (const word of ['moss', secret])
    t.notOk(JSON.stringify(worker.log).toLowerCase().includes(word), 'nor in the log')
})

t.test('what waits for the recipient is cancelled, and mail accepted after the request is new', async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const schedule = new Date(Date.now() + 3_600_000 * 24).toISOString()
  const waiting = await internet.send(`nora@${domain}`, { schedule })
  const status = await done(await forget(`nora@${domain}`))
  t.match(status.receipt, { cancelled: 1, deliveries: 1, bodies: 1 })
  const cancelled = await internet.inState(waiting, 'dropped')
  t.match(cancelled, { reason: 'forgotten', recipient: /^forgotten-/ })
  t.match((await internet.story(waiting)).events.at(-1), { type: 'dropped', detail: { reason: 'forgotten' } })
  t.same(await tablesWith(service.sql, `nora@${domain}`), [])
  t.equal(host.sessions, 0, 'nothing was sent')
  const later = await internet.send(`nora@${domain}`)
  t.match(await internet.inState(later, 'delivered'), { recipient: `nora@${domain}` })
})

t.test('a shared message is kept until the others have it, and the request runs as long', async (t) => {
  const host = await internet.host(t, { rcpt: quoting })
  const domain = internet.domain([host])
  const [ida, late] = [`ida@${domain}`, `late@${domain}`]
  const id = await internet.send(ida, {
    personalizations: [{ recipient: late, recipient_cc: [ida] }],
    content: `<p>Both of you, ${ida}</p>`,
  })
  await internet.inState(id, 'deferred')
  await internet.inState(id, 'delivered', 1)
  const request = await forget(ida)
  await until('his part to be gone', async () => (await statusOf(request)).receipt.deliveries === 1)
  t.match(await statusOf(request), { status: 'running', waiting: 1 })
  t.equal((await internet.story(id)).deliveries[1]?.recipient.startsWith('forgotten-'), true)
  await internet.advance(10)
  await internet.inState(id, 'delivered')
  t.match(
    host.messages.find(({ to }) => to[0] === late)?.data.toString(),
    new RegExp(`Cc: ${ida}`),
    'the others get what was accepted',
  )
  t.match(await done(request), { waiting: 0, receipt: { bodies: 1, deliveries: 1 } })
  t.same(await tablesWith(service.sql, ida), [])
  t.not((await tablesWith(service.sql, late)).length, 0)
})

t.test('a person who wanted no mail gets none once he is forgotten', async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain([host])
  const [olga, accountId] = [`Olga@${domain}`, sender.accountId]
  await service.core.suppressions.add({ accountId, scope: 'address', value: olga, reason: 'unsubscribe' })
  const status = await done(await forget(olga))
  t.match(status.receipt, { suppressions: 1, deliveries: 0 })
  t.same(await tablesWith(service.sql, olga), [], 'not even the list of opt-outs names him')
  const id = await internet.send(olga)
  const dropped = await internet.inState(id, 'dropped')
  t.match(dropped, { reason: 'unsubscribe', recipient: olga })
  t.same(
    (await internet.story(id)).events.map(({ type }) => type),
    ['dropped'],
    'at accept, and not only when its turn came',
  )
  const form = await sendV2(
    base,
    sender.apiKey,
    v2Body(sender, { personalizations: [{ recipient: `other@${domain}` }] }),
  )
  await internet.inState(String(form.body.data?.message_id), 'delivered')
  t.equal(host.messages.length, 1)
  t.match(await service.core.suppressions.holding(accountId, olga), [{ scope: 'address', reason: 'unsubscribe' }])
  t.match(await ask('/v2/gdpr/export', { email: olga }), {
    suppression: [{ email: olga.toLowerCase(), type: 'email', reason: 'unsubscribe', hashed: true }],
  })
  t.equal(await service.core.suppressions.removeAll({ accountId, emails: [olga] }), 1, 'he may be let in again')
  await internet.inState(await internet.send(olga), 'delivered')
})
