import { createRequire } from 'node:module'
import { parseSearch } from '@postrider/core'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type SMTPTransport from 'nodemailer/lib/smtp-transport'
import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'
import { type SinkMessage, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'
import { mail, openSession, shown } from './session.ts'

interface ReadMessage {
  readonly subject: string
  readonly text?: string
  readonly html: string | false
  readonly from: { readonly value: readonly { readonly name: string }[] }
  readonly attachments: readonly { readonly filename: string; readonly content: Buffer }[]
}
// The library has no types of its own.
const { simpleParser } = createRequire(import.meta.url)('mailparser') as {
  simpleParser: (message: Buffer) => Promise<ReadMessage>
}

const sink = await startSink(t)
const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
await service.openRelay()
await openWorker(t, service)
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
let numbers = 0
const someone = (): string => `r${++numbers}@harbor.example`

/** An unmodified nodemailer, as an application sets it up. */
function mailer(t: Test, options: SMTPTransport.Options = {}) {
  const { config } = service
  const transport = createTransport({
    host: '127.0.0.1',
    port: options.secure ? config.relayTlsPort : config.relayPort,
    auth: { user: 'apikey', pass: sender.apiKey },
    tls: { rejectUnauthorized: false },
    ...options,
  })
  t.teardown(() => transport.close())
  return transport
}

async function arrived(recipient: string): Promise<SinkMessage> {
  return until('the message', () => sink.messages.find(({ to }) => to.includes(recipient)))
}

async function parsed(recipient: string): Promise<ReadMessage> {
  return simpleParser((await arrived(recipient)).data)
}

/** Ways of coming in. */
const WAYS: readonly [what: string, options: SMTPTransport.Options][] = [
  ['STARTTLS and PLAIN', { authMethod: 'PLAIN' }],
  ['STARTTLS and LOGIN', { authMethod: 'LOGIN' }],
  ['required STARTTLS', { requireTLS: true }],
  ['TLS and PLAIN', { secure: true, authMethod: 'PLAIN' }],
  ['TLS and LOGIN', { secure: true, authMethod: 'LOGIN' }],
  ["the account's name as user", { auth: { user: sender.accountName, pass: sender.apiKey } }],
]

for (const [what, options] of WAYS) {
  t.test(`nodemailer sends over ${what}; the queue id is the message id, and the message arrives`, async (t) => {
    const to = someone()
    const sent = await mailer(t, options).sendMail({ from: desk, to, subject: 'Berth 4', text: 'Your berth is ready.' })
    const { deliveries, subject, from } = await shown(service, sent.response)
    t.strictSame([deliveries.map(({ recipient }) => recipient), subject, from], [[to], 'Berth 4', desk])
    const message = await parsed(to)
    t.strictSame([message.subject, message.text?.trim()], ['Berth 4', 'Your berth is ready.'])
  })
}

t.test('E40: X-APIHEADER and X-TAGS are stored and the delivered message has neither', async (t) => {
  const client = await openSession(t, service, sender)
  const to = someone()
  await client.begin(desk, to)
  const reply = await client.finish(mail(sender, 'X-APIHEADER: order-9002;\r\nX-TAGS: "berth, smtp";\r\n'))
  t.match(reply, /^250 2\.0\.0 Ok: queued as \w+$/)
  const { tags, deliveries } = await shown(service, reply)
  t.strictSame([tags, deliveries[0]?.reference], [['berth', 'smtp'], 'order-9002'])
  t.notMatch((await arrived(to)).data.toString(), /x-(apiheader|tags)/i)
})

t.test('nodemailer writes X-APIHEADER in its own case, and it counts all the same', async (t) => {
  const to = someone()
  const attributes = { NAME: 'Zoë Ångström', NOTE: 'a long note that makes the field be folded somewhere' }
  const headers = {
    'X-APIHEADER': 'Überfahrt 9002;',
    'X-TAGS': '"berth, häfen";',
    'X-SETTINGS': JSON.stringify({ footer: 0, clicktrack: 1, opentrack: 1, unsubscribe: 0 }),
    'X-ATTRIBUTES': JSON.stringify(attributes),
    'Idempotency-Key': 'submission-1',
  }
  const sent = await mailer(t).sendMail({ from: desk, to, subject: 's', text: 'hello', headers })
  const { tags, deliveries, settings } = await shown(service, sent.response)
  t.strictSame([tags, deliveries[0]?.reference], [['berth', 'häfen'], 'Überfahrt 9002'])
  t.same(settings, { clickTracking: true, openTracking: true, messageId: sent.messageId })
  for (const id of [sent.messageId, sent.messageId.replace(/[<>]/g, '')]) {
    const { deliveries: found } = await service.core.messages.list({ search: parseSearch(id), limit: 10 })
    t.strictSame(
      found.map(({ recipient }) => recipient),
      [to],
      'found by its own Message-ID',
    )
  }
  t.notMatch((await arrived(to)).data.toString(), /x-(apiheader|tags|settings|attributes)|idempotency/i)
})

t.test('a message with text, HTML, a picture and files arrives with all of them', async (t) => {
  const to = someone()
  const file = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256))
  const message: SendMailOptions = {
    from: { name: 'Ship, Desk', address: desk },
    to,
    subject: 'Überfahrt ⚓ mit einem langen Betreff, der über mehr als eine Zeile geht und gefaltet wird',
    text: 'Grüße',
    html: '<p>Grüße <img src="cid:anchor"></p>',
    attachments: [
      { filename: 'Fahrplan für März.pdf', content: file },
      { filename: 'anchor.png', content: Buffer.from('not really a picture'), cid: 'anchor' },
    ],
  }
  const sent = await mailer(t, { secure: true }).sendMail(message)
  t.equal((await shown(service, sent.response)).subject, message.subject)
  const { subject, text, html, attachments, from } = await parsed(to)
  t.strictSame([subject, text?.trim(), from.value[0]?.name], [message.subject, 'Grüße', 'Ship, Desk'])
  t.match(html || '', /<p>Grüße <img/)
  t.strictSame(attachments.map(({ filename }) => filename).sort(), ['Fahrplan für März.pdf', 'anchor.png'])
  t.ok(attachments.some(({ content }) => content.equals(file)))
})

t.test('several recipients each get one copy; Bcc is in no header', async (t) => {
  const [to, cc, bcc] = [someone(), someone(), someone()]
  const sent = await mailer(t).sendMail({ from: desk, to, cc, bcc, subject: 's', text: 'hello' })
  t.strictSame(sent.accepted, [to, cc, bcc])
  t.equal((await shown(service, sent.response)).deliveries.length, 3)
  for (const recipient of [to, cc, bcc]) {
    const { data } = await arrived(recipient)
    t.ok(data.includes(`To: ${to}`))
    t.notOk(data.includes(bcc as string))
  }
})

t.test('a non-ASCII recipient is taken with SMTPUTF8, and a non-ASCII domain becomes A-labels', async (t) => {
  const number = ++numbers
  const recipients = [`zoë${number}@harbor.example`, `r${number}@häfen.example`]
  const sent = await mailer(t).sendMail({ from: desk, to: recipients, subject: 's', text: 'hello' })
  const { deliveries } = await shown(service, sent.response)
  t.strictSame(deliveries.map(({ recipient }) => recipient).sort(), [
    `r${number}@xn--hfen-loa.example`,
    `zoë${number}@harbor.example`,
  ])
  await arrived(`zoë${number}@harbor.example`)
  t.ok(sink.commands.some((line) => line.startsWith('MAIL FROM') && line.includes('SMTPUTF8')))
})

t.test('raw octets in the header go on unchanged, with SMTPUTF8 where the client requested it', async (t) => {
  for (const [asked, subject] of [
    [false, Buffer.from('Liegeplatz f\xfcr Lena', 'latin1')],
    [false, Buffer.from('Liegeplatz für Lena')],
    [true, Buffer.from('Liegeplatz für Lena')],
  ] as const) {
    const to = someone()
    const client = await openSession(t, service, sender)
    t.match(await client.command(`MAIL FROM:<${desk}>${asked ? ' SMTPUTF8' : ''}`), /^250 /)
    t.match(await client.command(`RCPT TO:<${to}>`), /^250 /)
    t.match(await client.command('DATA'), /^354 /)
    const head = `From: ${desk}\r\nTo: ${to}\r\nSubject: `
    await client.send(Buffer.concat([Buffer.from(head), subject, Buffer.from('\r\n\r\nhello\r\n.\r\n')]))
    t.match(await client.reply(), /^250 /)
    const { data } = await arrived(to)
    t.ok(data.includes(Buffer.concat([Buffer.from('Subject: '), subject, Buffer.from('\r\n')])))
    const at = sink.commands.indexOf(`RCPT TO:<${to}>`)
    t.equal(sink.commands[at - 1]?.includes('SMTPUTF8'), asked, subject.toString('latin1'))
  }
})

t.test('a pool of connections sends fifty messages, each once', async (t) => {
  const pool = createTransport({
    pool: true,
    maxConnections: 3,
    host: '127.0.0.1',
    port: service.config.relayPort,
    auth: { user: 'apikey', pass: sender.apiKey },
    tls: { rejectUnauthorized: false },
  })
  t.teardown(() => pool.close())
  const recipients = Array.from({ length: 50 }, someone)
  const sent = await Promise.all(recipients.map((to) => pool.sendMail({ from: desk, to, subject: 's', text: 'hello' })))
  t.equal(new Set(sent.map(({ response }) => response)).size, 50)
  for (const recipient of recipients) await arrived(recipient)
  t.equal(sink.messages.filter(({ to }) => recipients.includes(to[0] ?? '')).length, 50)
})

t.test('nodemailer gets the reason: invalid key, foreign sender, no TLS', async (t) => {
  const message = { from: desk, to: someone(), subject: 's', text: 'hello' }
  const refusal = (options: SMTPTransport.Options, from = desk): Promise<unknown> =>
    mailer(t, options)
      .sendMail({ ...message, from })
      .then(
        () => 'sent',
        (error: { responseCode?: number }) => error.responseCode,
      )
  t.equal(await refusal({ auth: { user: 'apikey', pass: 'wrong' } }), 535)
  t.equal(await refusal({}, 'desk@unknown.example'), 550)
  t.equal(await refusal({ ignoreTLS: true }), 530)
})

t.test('X-SETTINGS.bcc gets a copy that does not name it', async (t) => {
  const [to, bcc] = [someone(), someone()]
  const headers = { 'X-SETTINGS': JSON.stringify({ bcc }) }
  await mailer(t).sendMail({ from: desk, to, subject: 's', text: 'hello', headers })
  t.equal((await arrived(bcc)).data.includes(bcc), false)
  await arrived(to)
})
