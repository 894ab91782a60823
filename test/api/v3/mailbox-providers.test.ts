import t from 'tap'
import { countAll } from '../../core/reporting/statistics/happen.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { addPast, type PastDelivery, type PastEvent } from '../v2/history.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const url = await service.openApi()
const get = (sender: Sender, query: string) =>
  ask(url, { method: 'GET', path: `/mailbox_providers/stats?${query}`, key: sender.apiKey })
const MARCH = 'start_date=2026-03-01&end_date=2026-03-02'
const QUIET = {
  blocks: 0,
  bounces: 0,
  clicks: 0,
  deferred: 0,
  delivered: 0,
  drops: 0,
  opens: 0,
  spam_reports: 0,
  unique_clicks: 0,
  unique_opens: 0,
}

async function makeMailed(): Promise<Sender> {
  const sender = await service.makeSender()
  const acceptedAt = '2026-03-01T10:00:00Z'
  const opened: PastEvent = { type: 'opened', at: acceptedAt, detail: { first: true } }
  const deliveries: PastDelivery[] = [
    { recipient: 'a@gmail.com', events: [opened] },
    { recipient: 'b@googlemail.com' },
    { recipient: 'c@yahoo.co.uk' },
    { recipient: 'd@harbor.example' },
    {
      recipient: 'e@outlook.com',
      state: 'bounced',
      events: [{ type: 'bounced', at: acceptedAt, detail: { class: 'spam' } }],
    },
  ]
  await addPast(service, sender, { acceptedAt, deliveries })
  await countAll(service)
  return sender
}

const row = (name: string, metrics: object) => ({ type: 'mailbox_provider', name, metrics: { ...QUIET, ...metrics } })

t.test('mail is counted per mailbox provider, and all other domains as Other', async (t) => {
  proves(t, 'operation.getMailboxProviderStats')
  const sender = await makeMailed()
  const march = [
    {
      date: '2026-03-01',
      stats: [
        row('Gmail', { delivered: 2, opens: 1, unique_opens: 1 }),
        row('Hotmail', { blocks: 1 }),
        row('Yahoo', { delivered: 1 }),
        row('Other', { delivered: 1 }),
      ],
    },
    { date: '2026-03-02', stats: [] },
  ]
  const { json } = await get(sender, MARCH)
  t.strictSame(json, march)
  const [first] = json as unknown as [{ stats: { metrics: object }[] }]
  t.strictSame(Object.keys(first.stats[0]?.metrics ?? {}), Object.keys(QUIET), 'in this order')
  t.strictSame((await get(sender, `${MARCH}&mailbox_providers=Gmail&mailbox_providers=AOL&limit=1`)).json, [
    { date: '2026-03-01', stats: [row('AOL', {}), row('Gmail', { delivered: 2, opens: 1, unique_opens: 1 })] },
  ])
  t.match((await get(sender, `${MARCH}&aggregated_by=month`)).json, [
    { date: '2026-03-01', stats: [{ name: 'Gmail' }] },
  ])
  t.strictSame((await get(await service.makeSender(), 'start_date=2026-03-01&end_date=2026-03-01')).json, [
    { date: '2026-03-01', stats: [] },
  ])
  const [status, body] = await sendgridClient(
    url,
    sender.apiKey,
  )({
    method: 'GET',
    url: '/v3/mailbox_providers/stats',
    qs: { start_date: '2026-03-01', end_date: '2026-03-02', mailbox_providers: ['Yahoo'] },
  })
  t.match(
    [status, body],
    [200, [{ stats: [{ name: 'Yahoo', metrics: { delivered: 1 } }] }, { stats: [{ name: 'Yahoo' }] }]],
  )
})

t.test('invalid days and providers are rejected by their field', async (t) => {
  const sender = await service.makeSender()
  refusedV3(t, await get(sender, 'end_date=2026-03-01'), [400, /required/, 'start_date'])
  refusedV3(t, await get(sender, `${MARCH}&mailbox_providers=Nobody`), [400, /Gmail/, 'mailbox_providers'])
  refusedV3(t, await get(sender, 'start_date=2024-01-01&end_date=2026-03-01'), [400, /at most/, 'end_date'])
})

t.test('more days than one answer has room for are refused, and the refusal says how many it has', async (t) => {
  const sender = await service.makeSender()
  t.equal((await get(sender, 'start_date=2026-01-01&end_date=2026-08-10')).status, 200, '222 days')
  const days = 'start_date=2026-01-01&end_date=2026-08-11'
  refusedV3(t, await get(sender, days), [
    400,
    'end_date: a response has at most 10000 counts, which allows 222 days here (got 223); use a shorter date range, or aggregate by week or month',
    'end_date',
  ])
  t.equal((await get(sender, `${days}&aggregated_by=week`)).status, 200)
  t.equal((await get(sender, `${days}&limit=222`)).status, 200, 'pages have room of their own')
})
