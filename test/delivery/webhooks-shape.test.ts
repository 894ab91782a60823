import { createHmac, createVerify } from 'node:crypto'
import { EventWebhook } from '@sendgrid/eventwebhook'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { type Received, startReceiver } from '../helpers/receiver.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { addWebhook, LOOPBACK, runLoops } from './webhook-worker.ts'

/** The deliveries of E39, as the service's own events. */
async function addExamples({ sql }: TestService, { accountId }: Sender): Promise<void> {
  const delivery = (
    base: string,
    number: number,
    recipient: string,
    reference: string | null,
    size: number,
    tags: string[],
  ) =>
    sql`with message as (
          insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, format, size, parts, recipients,
                 transaction_base, tags)
          values (${`00000000-0000-7000-8000-00000000000${number}`}::uuid, ${accountId}, 1, 'v2', service_now(),
                  'desk@ship.example', 's', 'mime', ${size}, 1, 1, ${base}::bigint, ${tags}::text[]))
        insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
               attempt, finished_at, reference)
        values (${`00000000-0000-7000-8000-00000000000${number}`}::uuid, 0, ${accountId}, 'delivered', ${recipient}, ${recipient},
                'harbor.example', 'to', 1, service_now(), ${reference})`
  await sql`create table if not exists messages_old partition of messages for values from (minvalue)
            to ('00000000-0000-7000-8000-0000000000ff')`
  await sql`create table if not exists finished_old partition of finished_deliveries for values from (minvalue)
            to ('00000000-0000-7000-8000-0000000000ff')`
  await delivery('17676078720000004', 1, 'lena@harbor.example', 'order-9001', 1834, ['berth', 'confirm'])
  await delivery('17676078720000008', 2, 'gone@harbor.example', null, 1200, ['berth'])
  await delivery('17676078720000012', 3, 'gone@harbor.example', null, 1200, [])
  const event = (at: number, type: string, number: number, detail: object) =>
    sql`insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
        values (to_timestamp(${at}), ${accountId}, ${type}, ${`00000000-0000-7000-8000-00000000000${number}`}::uuid, 0,
                ${JSON.stringify(detail)}::text::jsonb)`
  await sql`select ensure_partitions(to_timestamp(1767607000), 1)`
  await event(1767607874, 'sent', 1, { code: 250, enhanced: '2.0.0', reply: 'Ok: queued as 4F2A' })
  await event(1767608460, 'clicked', 1, { userAgent: 'Mozilla/5.0', ip: '192.0.2.9', url: 'https://ship.example/b/4' })
  await event(1767607960, 'bounced', 2, { code: 550, enhanced: '5.1.1', reply: 'user unknown', class: 'bad-mailbox' })
  await event(1767608060, 'dropped', 3, { reason: 'hardbounce' })
}

async function tell(t: Test, settings: Parameters<typeof addWebhook>[3]) {
  const service = await makeService(t, LOOPBACK)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  const made = await addWebhook(service, sender, receiver.url, {
    events: ['sent', 'clicked', 'bounced', 'dropped'],
    eventIds: false,
    ...settings,
  })
  await addExamples(service, sender)
  runLoops(t, service)
  const bodies = () => receiver.batches().reduce((sum, { body }) => sum + JSON.parse(body).length, 0)
  await until('all', () => bodies() === 4)
  const { publicKey } = await service.core.webhooks.show(sender.accountId, made.id)
  return { ...made, publicKey, requests: receiver.batches() }
}

const E39 = [
  '{"TRANSID":17676078720000004,"RESPONSE":"smtp;250 2.0.0 Ok: queued as ' +
    '4F2A","EMAIL":"lena@harbor.example","TIMESTAMP":1767607874,"FROMADDRESS":"desk@ship.example","EVENT":"sent","MSIZE":1834,"X-APIHEADER":"order-9001","TAGS":"berth,confirm"}',
  '{"TRANSID":17676078720000004,"RESPONSE":"","EMAIL":"lena@harbor.example","TIMESTAMP":1767608460,"FROMADDRESS":"desk@ship.example","EVENT":"clicked","MSIZE":1834,"USERAGENT":"Mozilla/5.0","TAGS":"berth,confirm","X-APIHEADER":"order-9001","IPADDRESS":"192.0.2.9","URL":"https://ship.example/b/4"}',
  '{"TRANSID":17676078720000008,"RESPONSE":"550 5.1.1 user ' +
    'unknown","EMAIL":"gone@harbor.example","TIMESTAMP":1767607960,"FROMADDRESS":"desk@ship.example","EVENT":"bounced","MSIZE":1200,"X-APIHEADER":"","TAGS":"berth","BOUNCE_TYPE":"HARDBOUNCE","BOUNCE_REASON":"bad address","BOUNCE_REASONID":1}',
  '{"TRANSID":17676078720000012,"RESPONSE":"Email dropped: User suppressed due to hard ' +
    'bounce","EMAIL":"gone@harbor.example","TIMESTAMP":1767608060,"FROMADDRESS":"desk@ship.example","EVENT":"dropped","MSIZE":0,"X-APIHEADER":"","TAGS":""}',
]

/** Events of several accepts may come in several batches. */
function objectsOf(requests: readonly Received[]): string[] {
  return requests.flatMap(({ body }) => body.slice(1, -1).split(/(?<=\}),(?=\{"TRANSID)/))
}

t.test('E39: a batch to the octet', async (t) => {
  const { requests } = await tell(t, {})
  t.strictSame(objectsOf(requests), E39)
  for (const { headers } of requests) t.equal(headers['content-type'], 'application/json')
})

t.test('the compatibility switches: values as text, and ids', async (t) => {
  const { requests } = await tell(t, { asText: true, eventIds: true })
  const all = requests.flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[])
  t.match(all[2], { TRANSID: '17676078720000008', TIMESTAMP: '1767607960', MSIZE: '1200', BOUNCE_REASONID: '1' })
  t.equal(Object.keys(all[0] ?? {}).at(-1), 'EVENTID')
  t.match(all[0]?.EVENTID, /^evt_\d+$/)
})

t.test('the verifier of Standard Webhooks takes what we sign, and nothing that was altered', async (t) => {
  const { requests, secret } = await tell(t, {})
  const verifier = new Webhook(secret)
  for (const { headers, body } of requests) {
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    t.strictSame(verifier.verify(body, own), JSON.parse(body))
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = own
    const forged: [string, string, Record<string, unknown>][] = [
      ['another body', `${body} `, {}],
      ['a cut body', body.slice(0, -1), {}],
      ['another id', body, { 'webhook-id': `${id}0` }],
      ['a later time', body, { 'webhook-timestamp': String(Number(time) + 1) }],
      ['an old time', body, { 'webhook-timestamp': String(Number(time) - 3600) }],
      ['another version', body, { 'webhook-signature': signature?.replace('v1,', 'v2,') }],
      ['no version', body, { 'webhook-signature': signature?.replace('v1,', '') }],
      ['a cut signature', body, { 'webhook-signature': signature?.slice(0, -4) }],
      ['no signature', body, { 'webhook-signature': '' }],
      [
        'an unkeyed digest',
        body,
        { 'webhook-signature': `v1,${createHmac('sha256', '').update(body).digest('base64')}` },
      ],
    ]
    for (const [what, text, change] of forged)
      t.throws(() => verifier.verify(text, { ...own, ...change } as Record<string, string>), what)
    t.throws(() => new Webhook(`whsec_${'A'.repeat(43)}=`).verify(body, own), 'another secret')
  }
})

t.test('the v3 shape is signed as its verifiers have it, and written as the recorded ones', async (t) => {
  const { requests, publicKey } = await tell(t, { format: 'v3' })
  const verifier = new EventWebhook()
  const key = verifier.convertPublicKeyToECDSA(publicKey)
  for (const { headers, body } of requests) {
    const signature = String(headers['x-twilio-email-event-webhook-signature'])
    const time = String(headers['x-twilio-email-event-webhook-timestamp'])
    t.ok(verifier.verifySignature(key, body, signature, time))
    t.notOk(verifier.verifySignature(key, body.trimEnd(), signature, time), 'the last line break counts')
    t.notOk(verifier.verifySignature(key, body, signature, `${Number(time) + 1}`))
    const spki = `-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----\n`
    t.ok(
      createVerify('sha256')
        .update(time + body)
        .verify(spki, signature, 'base64'),
      "and by Node's own",
    )
    t.match(body, /\]\r\n$/)
    t.notMatch(body, /[<>]/)
  }
  const all = requests.flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[])
  t.match(all, [
    { event: 'delivered', email: 'lena@harbor.example', timestamp: 1767607874, category: ['berth', 'confirm'] },
    { event: 'click', url: 'https://ship.example/b/4', useragent: 'Mozilla/5.0', ip: '192.0.2.9' },
    {
      event: 'bounce',
      type: 'bounce',
      status: '5.1.1',
      bounce_classification: 'Invalid Address',
      reason: /user unknown/,
    },
    { event: 'dropped', reason: 'Bounced Address' },
  ])
  t.equal(new Set(all.map(({ sg_event_id: id }) => id)).size, 4)
})
