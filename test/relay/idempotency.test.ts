import { createTransport } from 'nodemailer'
import t, { type Test } from 'tap'
import { moveClock } from '../helpers/database.ts'
import { processorTimeOf } from '../helpers/pace.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type Sender } from '../helpers/service.ts'
import { mail, openSession, queueId, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()

const ONCE = { messages: 1, deliveries: 1 }
const CONFLICT = '554 5.5.0 Idempotency-Key was already used with a different request'

async function submit(t: Test, sender: Sender, message: string, to: string | string[] = 'lena@harbor.example') {
  const client = await openSession(t, service, sender)
  const reply = await client.submit(`desk@${sender.domain}`, to, message)
  client.destroy()
  return reply
}

t.test('the same message under the same key is one message with one queue id', async (t) => {
  const sender = await service.makeSender()
  const message = mail(sender, 'Idempotency-Key: order 9001\r\nX-APIHEADER: a\r\n')
  const first = await submit(t, sender, message)
  t.equal(await submit(t, sender, message), first)
  t.equal(await submit(t, sender, message.replace('Idempotency-Key', 'idempotency-key')), first)
  t.equal(await submit(t, sender, `X-PR-Traceparent: 00-${'1'.repeat(32)}-${'2'.repeat(16)}-01\r\n${message}`), first)
  t.strictSame(await stored(service, sender), ONCE)
})

t.test('nodemailer sends it again with a new Date, Message-ID and boundaries, and it counts as the same', async (t) => {
  const sender = await service.makeSender()
  const mailer = createTransport({
    host: '127.0.0.1',
    port: service.config.relayPort,
    auth: { user: 'apikey', pass: sender.apiKey },
    tls: { rejectUnauthorized: false },
  })
  t.teardown(() => mailer.close())
  const send = async (date: string) =>
    mailer.sendMail({
      from: `desk@${sender.domain}`,
      to: 'lena@harbor.example',
      date,
      subject: 'Berth 4',
      text: 'Your berth is ready.',
      html: '<p>Your berth is ready. <img src="cid:anchor"></p>',
      attachments: [
        { filename: 'anchor.png', content: 'a picture', cid: 'anchor' },
        { filename: 'plan.txt', content: 'the plan' },
      ],
      headers: { 'Idempotency-Key': 'nodemailer-1' },
    })
  const first = await send('2026-01-05T10:11:12Z')
  const second = await send('2026-01-05T10:11:13Z')
  t.not(first.messageId, second.messageId)
  t.equal(second.response, first.response)
  t.strictSame(await stored(service, sender), ONCE)
})

t.test('a key is forgotten after 24 hours, and not before', async (t) => {
  const own = await makeService(t)
  await own.openRelay()
  const sender = await own.makeSender()
  const send = async () => {
    const client = await openSession(t, own, sender)
    const message = mail(sender, 'Idempotency-Key: day\r\n')
    return client.submit(`desk@${sender.domain}`, 'lena@harbor.example', message)
  }
  const first = await send()
  await moveClock(own.sql, '23 hours 59 minutes')
  t.equal(await send(), first)
  await moveClock(own.sql, '24 hours 1 minute')
  t.not(queueId(await send()), queueId(first))
})

const multipart = (boundary: string, text: string, type = 'multipart/mixed'): string =>
  [
    `Content-Type: ${type}; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    `Content-Type: multipart/alternative;`,
    ` boundary=${boundary}x`,
    '',
    `--${boundary}x`,
    '',
    text,
    `--${boundary}x--`,
    `--${boundary}--`,
    '',
  ].join('\r\n')

function withBody({ domain }: Sender, body: string, fields = ''): string {
  return `Idempotency-Key: k\r\nFrom: desk@${domain}\r\nTo: lena@harbor.example\r\nSubject: s\r\n${fields}${body}`
}

/** Two messages under one key: are they the same? */
const PAIRS: readonly [what: string, first: string, second: string, same: boolean][] = [
  ['another boundary', multipart('b1', 'hello'), multipart('c2', 'hello'), true],
  ['another type', multipart('b', 'hello'), multipart('b', 'hello', 'multipart/related'), false],
  ['another text', multipart('b', 'hello'), multipart('b', 'hallo'), false],
  ['a text that names the boundary', multipart('b1', 'see b1'), multipart('c2', 'see c2'), false],
  ['a text that speaks of a boundary', '\r\nboundary=e\r\nfree\r\n', '\r\nboundary=e\r\nfr\r\n', false],
  ['a delimiter that is none', multipart('b1', '--b1y'), multipart('b1', '--b1z'), false],
  ['a delimiter that is not there', multipart('b1', 'a\r\n--b1\r\n\r\nb'), multipart('b1', 'a\r\n\r\n\r\nb'), false],
  ['one line end less', '\r\nhello\r\n\r\n', '\r\nhello\r\n', false],
  ['another case', '\r\nHello\r\n', '\r\nhello\r\n', false],
  ['a body line moved into the header', 'X-A: 1\r\n\r\nX-B: 2\r\n', 'X-A: 1\r\nX-B: 2\r\n\r\n', false],
  ['a new Received field', 'Received: a\r\n\r\nhello\r\n', 'Received: b\r\n\r\nhello\r\n', true],
  ['a new Date', 'Date: Mon, 05 Jan 2026 10:11:12 +0000\r\n\r\nhello\r\n', '\r\nhello\r\n', true],
  ['a new reference', 'X-APIHEADER: a\r\n\r\nhello\r\n', 'X-APIHEADER: b\r\n\r\nhello\r\n', false],
]

for (const [what, one, other, same] of PAIRS) {
  t.test(`${what} ${same ? 'is the same message' : 'is another message, rejected with 554 5.5.0'}`, async (t) => {
    const sender = await service.makeSender()
    const first = await submit(t, sender, withBody(sender, one))
    queueId(first)
    t.equal(await submit(t, sender, withBody(sender, other)), same ? first : CONFLICT)
    t.equal(await submit(t, sender, withBody(sender, one)), first)
    t.strictSame(await stored(service, sender), ONCE)
  })
}

t.test('the same message to others is another message; the order of recipients does not count', async (t) => {
  const sender = await service.makeSender()
  const message = mail(sender, 'Idempotency-Key: to\r\n')
  const first = await submit(t, sender, message, ['a@harbor.example', 'b@harbor.example'])
  t.equal(await submit(t, sender, message, ['b@harbor.example', 'a@harbor.example']), first)
  t.equal(await submit(t, sender, message, 'a@harbor.example'), CONFLICT)
  t.equal(await submit(t, sender, message, ['a@harbor.example', 'b@harbor.example', 'c@harbor.example']), CONFLICT)
})

t.test('two accounts may use the same key', async (t) => {
  const [one, other] = [await service.makeSender(), await service.makeSender()]
  const first = await submit(t, one, mail(one, 'Idempotency-Key: shared\r\n'))
  t.not(queueId(await submit(t, other, mail(other, 'Idempotency-Key: shared\r\n'))), queueId(first))
})

t.test('a key that was used over HTTP is taken, by SMTP too', async (t) => {
  const sender = await service.makeSender()
  const base = await service.openApi()
  const sent = await sendV2(base, sender.apiKey, v2Body(sender), { 'idempotency-key': 'both' })
  t.equal(sent.status, 200)
  t.equal(await submit(t, sender, mail(sender, 'Idempotency-Key: both\r\n')), CONFLICT)
})

t.test('a refused message does not use its key up', async (t) => {
  const sender = await service.makeSender()
  const bad = mail(sender, 'Idempotency-Key: again\r\nX-SETTINGS: no\r\n')
  t.match(await submit(t, sender, bad), /^550 /)
  queueId(await submit(t, sender, mail(sender, 'Idempotency-Key: again\r\n')))
})

t.test('fifty clients at once with one key and one message are one message', async (t) => {
  const sender = await service.makeSender()
  const message = mail(sender, 'Idempotency-Key: crowd\r\n')
  const clients = await Promise.all(Array.from({ length: 50 }, () => openSession(t, service, sender)))
  await Promise.all(clients.map((client) => client.begin(`desk@${sender.domain}`, 'lena@harbor.example')))
  const replies = new Set(await Promise.all(clients.map((client) => client.finish(message))))
  t.equal(replies.size, 1)
  queueId([...replies][0] as string)
  t.strictSame(await stored(service, sender), ONCE)
})

t.test('a body of many lines that speak of boundaries is taken in no time', async (t) => {
  const sender = await service.makeSender()
  const lines = Array.from({ length: 200_000 }, (_, at) => `--b${at} boundary=b${at}\r\n`).join('')
  const took = await processorTimeOf(async () => {
    queueId(await submit(t, sender, withBody(sender, `Content-Type: multipart/mixed; boundary=b\r\n\r\n${lines}`)))
  })
  t.ok(took < 10_000, `${took} ms`)
})
