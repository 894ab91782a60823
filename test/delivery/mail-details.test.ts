import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t from 'tap'
import { call } from '../api/call.ts'
import { ask } from '../api/v3/ask.ts'
import { mailBody } from '../api/v3/mail.ts'
import { messageIdOf } from '../api/v3/mail-arrivals.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'

// Copies of one envelope share their Message-ID, so what the sink has seen before may have been another's copy.
const refused = new Set<string>()
const sink = await startSink(t, {
  dot: ({ message }) => {
    const [to = ''] = message.to
    if (!to.startsWith('again') || refused.has(to)) return undefined
    refused.add(to)
    return '451 not yet'
  },
  keep: () => true,
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { sender, service } = outbox
const base = `http://127.0.0.1:${service.config.apiPort}`

async function send(extra: Record<string, unknown>): Promise<string> {
  return messageIdOf(await ask(base, { path: '/mail/send', key: sender.apiKey, body: mailBody(sender, extra) }))
}

async function verdict(message: Buffer): Promise<string> {
  const { dns } = await service.core.domains.show(sender.domain)
  const { results } = await dkimVerify(message, {
    resolver: async (name, type) => {
      const record = dns.find(({ host }) => host === name)
      if (type !== 'TXT' || !record) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
      return [[record.value]]
    },
  })
  return results.map(({ status }) => status.result).join()
}

const png = Buffer.from('not really a picture').toString('base64')

t.test('a second attempt gives the same octets of a mail that has everything, its signature too', async (t) => {
  const id = await send({
    personalizations: [
      {
        to: [{ email: 'again@harbor.example', name: 'Gain, A' }],
        cc: [{ email: 'ops@harbor.example', name: 'Öps' }],
        subject: 'Größe',
      },
      { to: [{ email: 'cy@harbor.example' }], from: { email: `night@${sender.domain}`, name: 'Nächte' } },
    ],
    reply_to_list: [{ email: 'a@quay.example', name: 'Ä' }, { email: 'b@quay.example' }],
    content: [
      { type: 'text/plain', value: 'Thanks https://quay.example/a' },
      { type: 'text/html', value: '<img src="cid:logo">%o<a href="https://quay.example/b">b</a>' },
      { type: 'text/calendar', value: 'BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR' },
    ],
    attachments: [{ content: png, filename: 'a.png', type: 'image/png', disposition: 'inline', content_id: 'logo' }],
    mail_settings: { footer: { enable: true, text: 'Bye', html: '<i>Bye</i>' } },
    tracking_settings: {
      click_tracking: { enable: true, enable_text: true },
      open_tracking: { enable: true, substitution_tag: '%o' },
      subscription_tracking: { enable: true, text: 'Leave <% %>', html: '<% leave %>' },
      ganalytics: { enable: true, utm_source: 'ship' },
    },
  })
  await outbox.attempted(id)
  await outbox.advance(30)
  await outbox.inState(id, 'delivered')
  const tries = sink.messages.filter(({ data, to }) => data.includes(id) && to[0] === 'again@harbor.example')
  t.ok(tries.length >= 2, 'it was tried again')
  t.equal(new Set(tries.map(({ data }) => data.toString('latin1'))).size, 1)
  t.equal(await verdict(tries[0]?.data as Buffer), 'pass')
})

t.test('a personalization with a time, sender and subject of its own is sent and told with them', async (t) => {
  const [now] = await service.sql`select extract(epoch from service_now())::int as at`
  const at = Number(now?.at) + 3600
  const own = { from: { email: `night@${sender.domain}` }, subject: 'Hers', send_at: at }
  const id = await send({
    personalizations: [{ to: [{ email: 'x@harbor.example' }] }, { to: [{ email: 'y@harbor.example' }], ...own }],
  })
  await outbox.inState(id, 'delivered')
  await outbox.advance(61)
  await outbox.inState(id, 'delivered', 1)
  const arrived = sink.messages.find(({ data, to }) => data.includes(id) && to[0] === 'y@harbor.example')
  t.match(arrived?.data.toString(), `t=${at};`, 'it is signed as of then, and so is valid for as long as any')
  t.match(arrived?.data.toString(), /\r\nSubject: Hers\r\n/)
  await numberEvents(service)
  const path = '/v2/events/feed?after=0&limit=100&types=sent'
  const { json } = await call(base, { method: 'GET', path, headers: { api_key: sender.apiKey } })
  const told = ((json as unknown as { data: readonly Told[] }).data ?? []).filter(({ messageId }) => messageId === id)
  t.strictSame(
    told.map(({ email, fromaddress }) => [email, fromaddress]),
    [
      ['x@harbor.example', `desk@${sender.domain}`],
      ['y@harbor.example', `night@${sender.domain}`],
    ],
  )
  const [rolled] = await service.sql`
    select sum_counts(delivery_times) as times, delivery_time_bucket(3000) as bucket from roll_ups
     where account_id = ${sender.accountId} and subject = 'total'`
  const counts = rolled?.times as number[]
  const sum = (buckets: readonly number[]) => buckets.reduce((total, count) => total + count, 0)
  t.ok(sum(counts) >= 2)
  t.equal(sum(counts.slice(Number(rolled?.bucket) - 1)), 0, 'the time it was to wait is none of its delivery')
})

interface Told {
  readonly messageId: string
  readonly email: string
  readonly fromaddress: string
}
