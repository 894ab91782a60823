import t from 'tap'
import { makeService, type Sender } from '../../helpers/service.ts'
import { addPast, type PastDelivery } from '../v2/history.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const url = await service.openApi()
const get = (sender: Sender, rest = '', list = 'suppression') =>
  ask(url, { method: 'GET', path: `/${list}/bounces/classifications${rest}`, key: sender.apiKey })

/** Refusals of 1 and 2 March, and one of 3 March. */
async function makeBounced(): Promise<Sender> {
  const sender = await service.makeSender()
  const refused = (
    day: number,
    domain: string,
    detail: Record<string, string>,
    type: 'bounced' | 'expired' = 'bounced',
  ): PastDelivery => ({
    state: type,
    recipient: `r${Math.random()}@${domain}`,
    events: [{ type, at: `2026-03-0${day}T10:00:00Z`, detail }],
  })
  const deliveries = [
    refused(1, 'a.example', { class: 'bad-mailbox' }),
    refused(1, 'b.example', { class: 'bad-domain' }),
    refused(1, 'a.example', { class: 'relay' }),
    refused(2, 'a.example', { class: 'network' }),
    refused(2, 'b.example', { class: 'protocol' }),
    refused(2, 'a.example', { class: 'relay' }),
    refused(3, 'a.example', {}, 'expired'),
    refused(3, 'a.example', { class: 'other' }),
  ]
  await addPast(service, sender, { acceptedAt: '2026-03-01T09:00:00Z', deliveries })
  return sender
}

const MARCH = '?start_date=2026-03-01&end_date=2026-03-02'

t.test('bounces are counted per day and classification, the most frequent first', async (t) => {
  proves(t, 'operation.countBounceClassifications', 'operation.countBounceClassificationsPlural')
  const sender = await makeBounced()
  const days = [
    {
      date: '2026-03-01',
      stats: [
        { classification: 'Invalid Address', count: 2 },
        { classification: 'Technical Failure', count: 1 },
      ],
    },
    { date: '2026-03-02', stats: [{ classification: 'Technical Failure', count: 3 }] },
  ]
  t.strictSame((await get(sender, MARCH)).json, { result: days })
  t.strictSame((await get(sender, MARCH, 'suppressions')).json, { result: days }, 'as StrongGrid writes it')
  const seconds = `?start_date=${Date.parse('2026-03-02') / 1000}&end_date=${Date.parse('2026-03-03') / 1000}`
  t.strictSame((await get(sender, seconds)).json, {
    result: [days[1], { date: '2026-03-03', stats: [{ classification: 'Unclassified', count: 2 }] }],
  })
  t.strictSame((await get(sender)).json, { result: [] }, 'the last thirty days')
  t.strictSame((await get(await service.makeSender(), MARCH)).json, { result: [] }, 'of this account')
  const [status, body] = await sendgridClient(
    url,
    sender.apiKey,
  )({
    method: 'GET',
    url: '/v3/suppression/bounces/classifications',
    qs: { start_date: '2026-03-01', end_date: '2026-03-02' },
  })
  t.strictSame([status, body], [200, { result: days }])
})

t.test('the bounces of one classification are counted per domain', async (t) => {
  proves(t, 'operation.countBouncesOf', 'operation.countBouncesOfPlural')
  const sender = await makeBounced()
  const technical = `/${encodeURIComponent('Technical Failure')}${MARCH}`
  const days = [
    { date: '2026-03-01', stats: [{ domain: 'a.example', count: 1 }] },
    {
      date: '2026-03-02',
      stats: [
        { domain: 'a.example', count: 2 },
        { domain: 'b.example', count: 1 },
      ],
    },
  ]
  t.strictSame((await get(sender, technical)).json, { result: days })
  t.strictSame((await get(sender, technical, 'suppressions')).json, { result: days })
  t.strictSame((await get(sender, `/Content${MARCH}`)).json, { result: [] })
  refusedV3(t, await get(sender, `/Weather${MARCH}`), [404, 'resource not found'])
})

t.test('invalid days, or too many bounces to count, are rejected by their field', async (t) => {
  const sender = await service.makeSender()
  const format = 'must be a date in the format YYYY-MM-DD, or Unix seconds'
  for (const wrong of ['yesterday', '2026-02-30', '', '2026-3-1', '123456789012', '-1']) {
    for (const rest of ['', '/Content']) {
      const first = await get(sender, `${rest}?start_date=${wrong}`)
      refusedV3(t, first, [400, `start_date ${format}`, 'start_date'])
      const last = await get(sender, `${rest}?end_date=${wrong}`)
      refusedV3(t, last, [400, `end_date ${format}`, 'end_date'])
    }
  }
  refusedV3(t, await get(sender, '?start_date=2026-03-01&end_date=2026-02-01'), [400, /before/, 'end_date'])
  refusedV3(t, await get(sender, '?start_date=2026-03-01&end_date=2027-03-02'), [400, /days/, 'end_date'])
  await service.sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select '2026-03-01T10:00Z', ${sender.accountId}, 'bounced', gen_random_uuid(), 1, '{"class":"relay"}' from generate_series(1, 10001)`
  refusedV3(t, await get(sender, `/Content${MARCH}`), [
    400,
    'end_date: date range has more than 10000 bounces; use a shorter one',
    'end_date',
  ])
  t.equal((await get(sender, MARCH)).status, 200, 'by classification there may be more')
  refusedV3(t, await ask(url, { method: 'DELETE', path: '/suppression/bounces/classifications', key: sender.apiKey }), [
    405,
    'method not allowed',
  ])
})
