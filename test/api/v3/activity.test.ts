import { shortMessageId } from '@postrider/core'
import t, { type Test } from 'tap'
import { makeService, type Sender } from '../../helpers/service.ts'
import { addPast } from '../v2/history.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { refusedBy, sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const base = await service.openApi()

interface Row {
  readonly to_email: string
  readonly msg_id: string
}

const DAY = '2026-03-01'
const at = (time: string) => `${DAY}T${time}:00Z`

async function makeMailed(): Promise<{
  sender: Sender
  ids: string[]
  find: (query: string, limit?: number) => Promise<string[]>
}> {
  const sender = await service.makeSender()
  const opened = { type: 'opened', at: at('10:30'), detail: { first: true, userAgent: 'Thunderbird' } } as const
  const first = await addPast(service, sender, {
    acceptedAt: at('10:00'),
    subject: 'Your invoice 4711',
    tags: ['receipts', 'eu'],
    deliveries: [
      { recipient: 'ada@harbor.example', finishedAt: at('10:01'), events: [opened] },
      {
        recipient: 'bob@quay.example',
        state: 'bounced',
        finishedAt: at('10:02'),
        events: [
          {
            type: 'bounced',
            at: at('10:02'),
            detail: { attempt: 1, host: 'mx.quay.example', code: 550, reply: 'no such user' },
          },
        ],
      },
    ],
  })
  const second = await addPast(service, sender, {
    acceptedAt: at('12:00'),
    subject: 'Berth 4',
    tags: ['receipts-old'],
    from: `news@${sender.domain}`,
    deliveries: [{ recipient: 'ada@harbor.example', state: 'deferred' }],
  })
  await service.sql`
    insert into engagements (message_id, recipient_no, kind, machine, total, hour, in_hour) values
      (${first}, 0, 'opened', false, 3, service_now(), 1), (${first}, 0, 'opened', true, 9, service_now(), 1),
      (${first}, 0, 'clicked', false, 2, service_now(), 1)`
  const client = sendgridClient(base, sender.apiKey)
  const find = async (query: string, limit = 100) => {
    const [, body] = await client({ method: 'GET', url: '/v3/messages', qs: { query, limit } })
    return (body as { messages: Row[] }).messages.map(
      ({ to_email, msg_id }) => `${to_email} ${msg_id.split('.').at(-1)}`,
    )
  }
  return { sender, ids: [first, second], find }
}

t.test('deliveries are listed newest first, in the form of the OAI document', async (t) => {
  proves(t, 'operation.searchMessages')
  const { sender, ids } = await makeMailed()
  const { status, json, text } = await ask(base, { method: 'GET', path: '/messages', key: sender.apiKey })
  t.equal(status, 200, text)
  const [first = '', second = ''] = ids.map(shortMessageId)
  t.strictSame(json, {
    messages: [
      {
        from_email: `news@${sender.domain}`,
        msg_id: `${second}.recvd-0.0`,
        subject: 'Berth 4',
        to_email: 'ada@harbor.example',
        status: 'processed',
        opens_count: 0,
        clicks_count: 0,
        last_event_time: at('12:00'),
      },
      {
        from_email: `desk@${sender.domain}`,
        msg_id: `${first}.recvd-0.1`,
        subject: 'Your invoice 4711',
        to_email: 'bob@quay.example',
        status: 'not_delivered',
        opens_count: 0,
        clicks_count: 0,
        last_event_time: at('10:02'),
      },
      {
        from_email: `desk@${sender.domain}`,
        msg_id: `${first}.recvd-0.0`,
        subject: 'Your invoice 4711',
        to_email: 'ada@harbor.example',
        status: 'delivered',
        opens_count: 3,
        clicks_count: 2,
        last_event_time: at('10:01'),
      },
    ],
  })
})

t.test('the conditions of the query language find what they say', async (t) => {
  const { sender, ids, find } = await makeMailed()
  const [first = '', second = ''] = ids.map(shortMessageId)
  const [waiting, bounced, delivered] = ['ada@harbor.example 0', 'bob@quay.example 1', 'ada@harbor.example 0']
  const holds = async (query: string, wanted: readonly string[]) => t.strictSame(await find(query), wanted, query)
  await holds('status="delivered" AND to_email="ADA@harbor.example"', [delivered])
  await holds('status IN ("delivered","not_delivered")', [bounced, delivered])
  await holds(`(status != "delivered") and (from_email = "news@${sender.domain}")`, [waiting])
  await holds('to_email LIKE "%@quay.example"', [bounced])
  await holds('to_email NOT LIKE "%@quay.example" AND status NOT IN ("processed")', [delivered])
  await holds('subject = "Berth 4"', [waiting])
  await holds('subject="Berth"', [])
  await holds("subject LIKE 'Your inv%'", [bounced, delivered])
  await holds('subject LIKE "%invoice 47%"', [bounced, delivered])
  await holds('Contains(categories,"receipts")', [bounced, delivered])
  await holds('(Contains(events,"opened"))', [delivered])
  await holds('events IN ("bounce","deferred")', [waiting, bounced])
  await holds(`msg_id="${first}"`, [bounced, delivered])
  await holds(`msg_id LIKE "${second}%"`, [waiting])
  await holds(`msg_id="${first}.recvd-0.1"`, [bounced])
  await holds('msg_id="nothing"', [])
  const between = (from: string, to: string) =>
    `last_event_time BETWEEN TIMESTAMP "${at(from)}" AND TIMESTAMP "${at(to)}"`
  await holds(between('10:02', '11:00'), [bounced])
  await holds(between('10:01', '12:00'), [waiting, bounced, delivered])
  await holds(`last_event_time > TIMESTAMP "${at('10:02')}"`, [waiting])
  await holds(`last_event_time <= TIMESTAMP "${at('10:01')}"`, [delivered])
  t.strictSame(await find('status="not_delivered" AND last_event_time < TIMESTAMP "2025-01-01T00:00:00Z"'), [])
  t.strictSame(await find('', 1), [waiting])
})

t.test('what the language cannot say here, or is not in it, is refused by name', async (t) => {
  const { sender } = await makeMailed()
  const refused = async (t: Test, query: string, message: RegExp | string) => {
    const path = `/messages?query=${encodeURIComponent(query)}`
    refusedV3(t, await ask(base, { method: 'GET', path, key: sender.apiKey }), [400, message, 'query'], query)
  }
  for (const field of ['bad_field', '__proto__', 'constructor'])
    await refused(t, `${field}="x"`, `invalid syntax: '${field}' is not a known field`)
  await refused(t, 'categories=""', /^invalid syntax: categories has no letter/)
  await refused(t, 'template_id="x"', /'template_id' cannot be searched for here/)
  await refused(t, 'status="delivered" OR status="processed"', /OR is not supported/)
  await refused(t, 'status="lost"', /status is processed, delivered, not_delivered/)
  await refused(t, 'to_email="nobody"', /takes a whole address/)
  await refused(t, 'to_email LIKE "a%"', /takes a whole address/)
  await refused(t, 'subject LIKE "%end"', /"%words%" or "beginning%"/)
  await refused(t, 'subject != "x"', /'subject' takes =, LIKE/)
  await refused(t, 'status="delivered" status="x"', /AND is missing before 'status'/)
  await refused(t, 'status', /an operator is missing before its end/)
  await refused(t, 'status=delivered', /expected a text in quotes, not 'delivered'/)
  await refused(t, '(status="delivered"', /a parenthesis is not closed/)
  await refused(t, 'status="delivered" AND', /expected the name of a field, not its end/)
  await refused(t, 'status="delivered', /unexpected/)
  await refused(t, 'Contains(events,"processed")', /events 'processed' cannot be searched for/)
  await refused(t, 'last_event_time > TIMESTAMP "soon"', /takes times such as/)
  await refused(t, 'to_email="a@b.example" AND to_email="c@b.example"', /two conditions/)
  await refused(t, `status IN (${Array(101).fill('"delivered"').join()})`, /at most 100 values/)
  await refused(t, Array(21).fill('status != "delivered"').join(' AND '), /at most 20 conditions/)
  await refused(t, 'x'.repeat(4001), /at most 4000 characters/)
  const limit = await ask(base, { method: 'GET', path: '/messages?limit=1001', key: sender.apiKey })
  refusedV3(t, limit, [400, 'limit must be a whole number from 1 to 1000', 'limit'])
})

t.test('a delivery is shown with its events; those of others are not found', async (t) => {
  proves(t, 'operation.viewMessage')
  const { sender, ids } = await makeMailed()
  const [first = ''] = ids.map(shortMessageId)
  const client = sendgridClient(base, sender.apiKey)
  const [, shown] = await client({ method: 'GET', url: `/v3/messages/${first}.recvd-0.1` })
  t.match(shown, {
    from_email: `desk@${sender.domain}`,
    msg_id: `${first}.recvd-0.1`,
    subject: 'Your invoice 4711',
    to_email: 'bob@quay.example',
    status: 'not_delivered',
    template_id: '',
    categories: ['receipts', 'eu'],
    unique_args: '{}',
    events: [
      { event_name: 'processed', processed: at('10:00') },
      {
        event_name: 'bounced',
        processed: at('10:02'),
        attempt_num: 1,
        mx_server: 'mx.quay.example',
        server_response: '550 no such user',
        bounce_type: 'hard',
      },
    ],
  })
  const opened = { event_name: 'opened', http_user_agent: 'Thunderbird' }
  const [, whole] = await client({ method: 'GET', url: `/v3/messages/${first}` })
  t.match(whole, {
    to_email: 'ada@harbor.example',
    events: [{ event_name: 'processed' }, { event_name: 'delivered' }, opened],
  })
  const stranger = sendgridClient(base, (await service.makeSender()).apiKey)
  for (const [by, id] of [
    [stranger, first],
    [client, `${first}.recvd-0.2`],
    [client, 'nothing'],
  ] as const) {
    const error = await refusedBy(by({ method: 'GET', url: `/v3/messages/${id}` }))
    t.equal(error.code, 404)
    t.match(error.response.body, { errors: [{ message: 'not found', field: 'message_id' }] })
  }
})
