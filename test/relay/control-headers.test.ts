import t from 'tap'
import { makeService, settled } from '../helpers/service.ts'
import { mail, NOTHING, openSession, queueId, shown, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const tracked = await service.makeSender({ tracking: true })
const TRACKED = { openTracking: true, clickTracking: true, unsubscribe: true }
await service.sql`update accounts set unsubscribe_link = true where id = ${tracked.accountId}`

/** What a control field says (v2 contract section 17), and what the message has of it. */
const SAID: readonly [
  field: string,
  has: { reference?: string | null; tags?: string[]; settings?: Record<string, boolean> },
][] = [
  ['X-APIHEADER: order-9002', { reference: 'order-9002' }],
  ['X-APIHEADER: order-9002;', { reference: 'order-9002' }],
  ['X-APIHEADER: "order-9002";', { reference: 'order-9002' }],
  ['X-APIHEADER: "order 9002" ; ', { reference: 'order 9002' }],
  ['X-APIHEADER: order;9002;;', { reference: 'order;9002;' }],
  ['X-Apiheader: order-9002', { reference: 'order-9002' }],
  ['x-apiheader : order-9002', { reference: 'order-9002' }],
  ['X-ApiHeader:\r\n order-9002', { reference: 'order-9002' }],
  ['X-APIHEADER: order\r\n\t9002', { reference: 'order\t9002' }],
  ['X-APIHEADER: Überfahrt', { reference: 'Überfahrt' }],
  ['X-APIHEADER: =?UTF-8?Q?=C3=9Cberfahrt?=', { reference: 'Überfahrt' }],
  [`X-APIHEADER: ${'a'.repeat(255)}`, { reference: 'a'.repeat(255) }],
  ['X-APIHEADER:', { reference: null }],
  ['X-APIHEADER: ;', { reference: null }],
  ['X-APIHEADER: first\r\nX-Apiheader: last', { reference: 'last' }],
  ['X-TAGS: berth', { tags: ['berth'] }],
  ['X-TAGS: "berth, smtp";', { tags: ['berth', 'smtp'] }],
  ['X-Tags: berth , smtp,, ', { tags: ['berth', 'smtp'] }],
  ['x-tags: =?UTF-8?B?SMOkZmVu?=, smtp', { tags: ['Häfen', 'smtp'] }],
  ['X-TAGS: ";"', { tags: [';'] }],
  ['X-TAGS:', { tags: [] }],
  [
    'X-SETTINGS: {"footer":0,"clicktrack":1,"opentrack":"1","unsubscribe":false}',
    { settings: { footer: false, clickTracking: true, openTracking: true, unsubscribe: false } },
  ],
  ['x-settings: { "footer" : true };', { settings: { footer: true } }],
  ['X-SETTINGS: {"footer":null,"clicktrack":"","later":7}', { settings: {} }],
  ['X-SETTINGS: {}', { settings: {} }],
  ['X-SETTINGS:', { settings: {} }],
  ['X-SETTINGS: {"footer":\r\n 1}', { settings: { footer: true } }],
  ['X-SETTINGS: {"later":"a\r\n\tb","footer":1}', { settings: { footer: true } }],
  ['X-SETTINGS: {"later":"=?UTF-8?Q?=22=C3=BC=22?=","footer":1};', { settings: { footer: true } }],
  ['X-FOOTER: 1', { settings: { footer: true } }],
  ['X-Footer: "0";', { settings: { footer: false } }],
  ['X-CLICKTRACK: true', { settings: { clickTracking: true } }],
  ['X-OPENTRACK: FALSE', { settings: { openTracking: false } }],
  ['X-UNSUBSCRIBE: 0', { settings: { unsubscribe: false } }],
  ['X-CLICKTRACK:', { settings: {} }],
  ['X-SETTINGS: {"clicktrack":1,"footer":1}\r\nX-CLICKTRACK: 0', { settings: { clickTracking: false, footer: true } }],
]

for (const [field, { reference = null, tags = [], settings = {} }] of SAID) {
  t.test(`${JSON.stringify(field).slice(0, 90)} is taken for what it says`, async (t) => {
    for (const [from, byDefault] of [[sender, {}] as const, [tracked, TRACKED] as const]) {
      const client = await openSession(t, service, from)
      const reply = await client.submit(`desk@${from.domain}`, 'lena@harbor.example', mail(from, `${field}\r\n`))
      const story = await shown(service, reply)
      t.strictSame([story.deliveries[0]?.reference, story.tags], [reference, tags])
      t.same(story.settings, settled(settings, byDefault))
    }
  })
}

t.test('X-SETTINGS.bcc gets one more, blind copy, under the same reference', async (t) => {
  const client = await openSession(t, service, sender)
  const fields = 'X-SETTINGS: {"bcc":"books@ship.example"}\r\nX-APIHEADER: order-9002\r\n'
  const reply = await client.submit(`desk@${sender.domain}`, ['lena@harbor.example'], mail(sender, fields))
  const { deliveries } = await shown(service, reply)
  t.strictSame(
    deliveries.map(({ recipient, kind, reference }) => [recipient, kind, reference]),
    [
      ['lena@harbor.example', 'to', 'order-9002'],
      ['books@ship.example', 'bcc', 'order-9002'],
    ],
  )
})

t.test('X-SETTINGS.bcc may be several addresses, as in v2', async (t) => {
  const client = await openSession(t, service, sender)
  for (const bcc of ['a@ship.example, b@ship.example', ['a@ship.example', 'b@ship.example']]) {
    const fields = `X-SETTINGS: ${JSON.stringify({ bcc })}\r\n`
    const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, fields))
    const { deliveries } = await shown(service, reply)
    t.strictSame(
      deliveries.slice(1).map(({ recipient, kind }) => [recipient, kind]),
      [
        ['a@ship.example', 'bcc'],
        ['b@ship.example', 'bcc'],
      ],
    )
  }
})

t.test('X-SETTINGS.bcc that is a recipient already gets no second copy, and a blank one is ignored', async (t) => {
  const client = await openSession(t, service, sender)
  for (const bcc of ['Lena@harbor.example', '', ' ']) {
    const fields = `X-SETTINGS: ${JSON.stringify({ bcc })}\r\n`
    const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, fields))
    t.equal((await shown(service, reply)).deliveries.length, 1)
  }
})

/** What can't be taken for anything: the field, and the name the 550 must have in it. */
const MALFORMED: readonly [field: string, named: string][] = [
  [`X-APIHEADER: ${'a'.repeat(256)}`, 'X-APIHEADER'],
  [`X-TAGS: ${'a'.repeat(256)}`, 'X-TAGS'],
  [`X-TAGS: ${Array.from({ length: 51 }, (_, at) => `t${at}`).join(',')}`, 'X-TAGS'],
  ['X-SETTINGS: footer=0', 'X-SETTINGS'],
  ['X-SETTINGS: {"footer":0', 'X-SETTINGS'],
  ['X-SETTINGS: [1]', 'X-SETTINGS'],
  ['X-SETTINGS: 1', 'X-SETTINGS'],
  ['X-SETTINGS: null', 'X-SETTINGS'],
  ['X-SETTINGS: "{}"', 'X-SETTINGS'],
  ['X-SETTINGS: {"footer":2}', 'X-SETTINGS.footer'],
  ['X-SETTINGS: {"clicktrack":"yes"}', 'X-SETTINGS.clicktrack'],
  ['X-SETTINGS: {"opentrack":[1]}', 'X-SETTINGS.opentrack'],
  ['X-SETTINGS: {"unsubscribe":{}}', 'X-SETTINGS.unsubscribe'],
  ['X-SETTINGS: {"bcc":[["books@ship.example"]]}', 'X-SETTINGS.bcc'],
  ['X-SETTINGS: {"bcc":{}}', 'X-SETTINGS.bcc'],
  ['X-SETTINGS: {"bcc":7}', 'X-SETTINGS.bcc'],
  ['X-SETTINGS: {"bcc":"a@ship.example\\r\\nb@ship.example"}', 'X-SETTINGS.bcc'],
  ['X-FOOTER: 2', 'X-FOOTER'],
  ['X-Clicktrack: yes', 'X-CLICKTRACK'],
  ['X-OPENTRACK: -1', 'X-OPENTRACK'],
  ['X-UNSUBSCRIBE: off', 'X-UNSUBSCRIBE'],
  ['X-TEMPLATEID: seven', 'X-TEMPLATEID'],
  ['X-TEMPLATEID: 7.5', 'X-TEMPLATEID'],
  ['X-TEMPLATEID: -7', 'X-TEMPLATEID'],
  ['X-APIHEADER: =?UTF-8?Q?a=0D=0ABcc:_x@spam.example?=', 'X-APIHEADER'],
  ['X-TAGS: =?UTF-8?B?YQBi?=', 'X-TAGS'],
  ['X-ATTRIBUTES: NAME=Ann', 'X-ATTRIBUTES'],
  ['X-ATTRIBUTES: ["Ann"]', 'X-ATTRIBUTES'],
  ['X-ATTRIBUTES: {"NAME":["Ann"]}', 'X-ATTRIBUTES'],
  ['X-ATTRIBUTES: {"NAME":"\\u0000"}', 'X-ATTRIBUTES'],
  ['X-ATTRIBUTES: {"NAME":"\\ud800"}', 'X-ATTRIBUTES'],
  ['Idempotency-Key:', 'Idempotency-Key'],
  ['Idempotency-Key: Überfahrt', 'Idempotency-Key'],
  [`Idempotency-Key: ${'k'.repeat(257)}`, 'Idempotency-Key'],
]

for (const [field, named] of MALFORMED) {
  t.test(`${field.slice(0, 60)} is refused with 550 naming ${named}, and nothing is stored`, async (t) => {
    const own = await service.makeSender()
    const client = await openSession(t, service, own)
    const reply = await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own, `${field}\r\n`))
    t.match(reply, /^550 5\.6\.0 /)
    t.ok(reply.includes(`[${named}`), reply)
    t.strictSame(await stored(service, own), NOTHING)
    queueId(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own)))
  })
}
