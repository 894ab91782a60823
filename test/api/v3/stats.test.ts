import t from 'tap'
import { countAll, happen } from '../../core/reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { addPast, type PastDelivery } from '../v2/history.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { refusedBy, sendgridClient } from './sendgrid-client.ts'

interface Row {
  readonly date: string
  readonly stats: { readonly metrics: Record<string, number> }[]
}

const QUIET = {
  blocks: 0,
  bounce_drops: 0,
  bounces: 0,
  clicks: 0,
  deferred: 0,
  delivered: 0,
  invalid_emails: 0,
  opens: 0,
  processed: 0,
  requests: 0,
  spam_report_drops: 0,
  spam_reports: 0,
  unique_clicks: 0,
  unique_opens: 0,
  unsubscribe_drops: 0,
  unsubscribes: 0,
}

const service = await makeService(t)
const url = await service.openApi()
const get = (sender: Sender, query: string) => ask(url, { method: 'GET', path: `/stats?${query}`, key: sender.apiKey })
const rows = async (sender: Sender, query: string): Promise<Row[]> => {
  const { status, json, text } = await get(sender, query)
  if (status !== 200) throw new Error(text)
  return json as unknown as Row[]
}

/** Ten deliveries of the first of March, as P36 counts them. */
async function addMarch(sender: Sender): Promise<void> {
  const acceptedAt = '2026-03-01T10:00:00Z'
  const read = (type: 'opened' | 'clicked', first: boolean) => ({
    type,
    at: acceptedAt,
    detail: first ? { first } : {},
  })
  const deliveries: PastDelivery[] = [
    { events: [read('opened', true), read('opened', false), read('clicked', true)] },
    { events: [read('opened', true), read('clicked', true)] },
    { events: [read('opened', true)] },
    { events: [read('opened', true), { type: 'opened', at: acceptedAt, detail: { machine: 'proxy' } }] },
    ...Array.from({ length: 5 }, () => ({})),
    { state: 'bounced', events: [{ type: 'bounced', at: acceptedAt, detail: { class: 'bad-mailbox' } }] },
  ]
  await addPast(service, sender, { acceptedAt, deliveries })
  await countAll(service)
}

t.test('P36: a day has the sixteen metrics in order, and a day without mail has zeros', async (t) => {
  proves(t, 'stats.dates', 'operation.getStats')
  const sender = await service.makeSender()
  await addMarch(sender)
  const { status, headers, text } = await get(sender, 'start_date=2026-03-01&end_date=2026-03-02&aggregated_by=day')
  t.equal(status, 200)
  t.match(headers['content-type'], /^application\/json/)
  t.ok(headers['x-ratelimit-remaining'])
  const first =
    '{"blocks":0,"bounce_drops":0,"bounces":1,"clicks":2,"deferred":0,"delivered":9,"invalid_emails":0,"opens":5,"processed":10,"requests":10,"spam_report_drops":0,"spam_reports":0,"unique_clicks":2,"unique_opens":4,"unsubscribe_drops":0,"unsubscribes":0}'
  t.equal(
    text,
    `[{"date":"2026-03-01","stats":[{"metrics":${first}}]},{"date":"2026-03-02","stats":[{"metrics":${JSON.stringify(QUIET)}}]}]`,
  )
})

t.test('P37: rows are returned in pages', async (t) => {
  proves(t, 'stats.page')
  const sender = await service.makeSender()
  const dates = async (query: string) => (await rows(sender, query)).map(({ date }) => date)
  const span = 'start_date=2026-03-01&end_date=2026-03-03'
  t.strictSame(await dates(`${span}&limit=1&offset=1`), ['2026-03-02'])
  t.strictSame(await dates(`${span}&offset=1`), ['2026-03-02', '2026-03-03'])
  t.strictSame(await dates(`${span}&limit=500`), ['2026-03-01', '2026-03-02', '2026-03-03'])
  t.strictSame(await dates(`${span}&offset=3`), [])
  t.equal((await dates('start_date=2023-01-01&end_date=2026-12-31')).length, 1461, 'no limit unless told')
  for (const wrong of ['limit=-1', 'offset=-1', 'limit=many']) {
    const field = wrong.split('=')[0] as string
    refusedV3(t, await get(sender, `${span}&${wrong}`), [400, /whole number/, field])
  }
})

t.test('statistics are grouped by day, week or month', async (t) => {
  proves(t, 'stats.aggregated_by')
  const sender = await service.makeSender()
  await addMarch(sender)
  const counts = async (by: string) =>
    (await rows(sender, `start_date=2026-02-25&end_date=2026-03-12&aggregated_by=${by}`)).map(({ date, stats }) => [
      date,
      stats[0]?.metrics.delivered,
    ])
  t.strictSame(await counts('week'), [
    ['2026-02-25', 9],
    ['2026-03-02', 0],
    ['2026-03-09', 0],
  ])
  t.strictSame(await counts('month'), [
    ['2026-02-25', 0],
    ['2026-03-01', 9],
  ])
  t.equal((await counts('day')).length, 16)
  refusedV3(t, await get(sender, 'start_date=2026-03-01&aggregated_by=hour'), [
    400,
    /day, week, month/,
    'aggregated_by',
  ])
})

t.test('P38: a span needs a start, in days that are, and no end before it', async (t) => {
  proves(t, 'stats.dates')
  const sender = await service.makeSender()
  const start = 'start_date is required and must be in the format YYYY-MM-DD'
  refusedV3(t, await get(sender, ''), [400, start, 'start_date'])
  for (const wrong of ['', '01-03-2026', '2026-02-30', '2026-3-1', '2026-03-01T00:00:00Z', '0001-01-01x']) {
    refusedV3(t, await get(sender, `start_date=${wrong}`), [400, start, 'start_date'], wrong)
  }
  refusedV3(t, await get(sender, 'start_date=2026-03-01&end_date=soon'), [400, /YYYY-MM-DD/, 'end_date'])
  refusedV3(t, await get(sender, 'start_date=2026-03-02&end_date=2026-03-01'), [400, /not be before/, 'end_date'])
  refusedV3(t, await get(sender, 'start_date=1990-01-01&end_date=2026-03-01'), [400, /at most 1827 days/, 'end_date'])
  t.equal((await get(sender, 'start_date=0001-01-01')).status, 400, 'a year that no calendar of ours has')
  const today = new Date().toISOString().slice(0, 10)
  t.ok((await rows(sender, `start_date=${today}`)).some(({ date }) => date === today))
})

t.test('drops are listed by their reason, and what was requested is listed once', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  const reasons = ['hardbounce', 'hardbounce', 'abuse', 'unsubscribe', 'manual'] as const
  const suppressed = reasons.map((reason, at) => ({ reason, value: `${reason}${at}@harbor.example` }))
  for (const { reason, value } of suppressed) {
    await service.core.suppressions.add({ accountId, scope: 'address', value, reason })
  }
  const recipients = ['lena@harbor.example', 'mina@harbor.example', ...suppressed.map(({ value }) => value)]
  const { messageId } = await acceptMessage(service, sender, { envelopes: recipients.map((one) => envelopeTo(one)) })
  const later = { messageId, at: "service_now() + interval '1 second'" }
  await happen(
    service,
    accountId,
    { type: 'invalid', messageId },
    { ...later, type: 'dropped', detail: { reason: 'abuse' } },
    { ...later, type: 'dropped', recipientNo: 1, detail: { reason: 'cancelled' } },
    { ...later, type: 'bounced', detail: { class: 'mailbox-full' } },
    { ...later, type: 'expired' },
    { ...later, type: 'bounced', detail: { class: 'moved' } },
    { ...later, type: 'complained' },
    { ...later, type: 'unsubscribed', detail: { group: 7 } },
    { ...later, type: 'deferred' },
  )
  await countAll(service)
  const wanted = {
    ...QUIET,
    requests: 8,
    processed: 2,
    bounce_drops: 2,
    spam_report_drops: 2,
    unsubscribe_drops: 2,
    invalid_emails: 1,
    blocks: 2,
    bounces: 1,
    spam_reports: 1,
    unsubscribes: 1,
    deferred: 1,
  }
  const today = new Date().toISOString().slice(0, 10)
  const metrics = async () => (await rows(sender, `start_date=${today}&aggregated_by=month`))[0]?.stats[0]?.metrics
  t.strictSame(await metrics(), wanted)
  await service.sql`update roll_ups set bounce_dropped = 0, late_dropped = 0 where account_id = ${accountId}`
  await service.core.stats.recount({ accountId })
  t.strictSame(await metrics(), wanted, 'counted anew it is the same')
})

t.test('@sendgrid/client gets them, and learns what was wrong', async (t) => {
  proves(t, 'operation.getStats')
  const sender = await service.makeSender()
  await addMarch(sender)
  const request = sendgridClient(url, sender.apiKey)
  const asked = { method: 'GET', url: '/v3/stats' } as const
  const [status, body] = await request({ ...asked, qs: { start_date: '2026-03-01', end_date: '2026-03-01', limit: 1 } })
  t.equal(status, 200)
  t.match(body, [{ date: '2026-03-01', stats: [{ metrics: { requests: 10, delivered: 9 } }] }])
  const { code, response } = await refusedBy(request(asked))
  t.equal(code, 400)
  t.match(response.body.errors, [{ field: 'start_date', message: /required/ }])
})
