import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'
import { type SinkMessage, startSink } from '../helpers/sink.ts'
import { type SmtpClient, stuffed } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'
import { openSession, queueId } from './session.ts'

const sink = await startSink(t)
const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
await service.openRelay()
await openWorker(t, service)
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const FROM = `From: Ship Desk <${desk}>\r\n`
const DATED = `Date: Mon, 05 Jan 2026 10:11:12 +0000\r\nMessage-ID: <1@client.test>\r\n`

let numbers = 0

/** Sends a message and answers what the recipient's server got, and the queue id. */
async function relayed(
  t: Test,
  message: string | Buffer,
  send: (client: SmtpClient, octets: Buffer) => Promise<void> = (client, octets) => client.send(octets),
): Promise<{ data: Buffer; id: string; from: string }> {
  const recipient = `r${++numbers}@harbor.example`
  const client = await openSession(t, service, sender)
  await client.begin(desk, recipient)
  await send(client, stuffed(message))
  const id = queueId(await client.reply())
  const arrived = await until<SinkMessage>('the message', () => sink.messages.find(({ to }) => to[0] === recipient))
  return { data: arrived.data, id, from: arrived.from }
}

interface Split {
  /** The fields this service put on top, unfolded. */
  readonly added: string[]
  readonly rest: Buffer
}

/** Parts the fields on top of a message, of these names and in this order, from what is below them. */
function split(data: Buffer, names: readonly string[]): Split {
  const added: string[] = []
  let text = data.toString('latin1')
  for (const name of names) {
    const field = new RegExp(`^${name}: (?:[^\\r\\n]|\\r\\n(?=[ \\t]))*\\r\\n`).exec(text)?.[0]
    if (field === undefined) throw new Error(`no ${name} on top of: ${text.slice(0, 200)}`)
    added.push(field.replace(/\r\n(?=[ \t])/g, '').trimEnd())
    text = text.slice(field.length)
  }
  return { added, rest: Buffer.from(text, 'latin1') }
}

const TRACE = ['DKIM-Signature', 'X-PR-Ref', 'Feedback-ID', 'Received']
const every = Buffer.from(
  Array.from({ length: 256 }, (_, octet) => octet).filter((octet) => ![0, 10, 13].includes(octet)),
)

/** Messages with their own Date and Message-ID: below the trace fields they must arrive octet for octet. */
const MESSAGES: readonly [what: string, message: Buffer | string][] = [
  ['a plain message', `${FROM}${DATED}Subject: Berth 4\r\n\r\nhello\r\n`],
  ['every octet but NUL, CR and LF', Buffer.concat([Buffer.from(`${FROM}${DATED}\r\n`), every, Buffer.from('\r\n')])],
  [
    'lines as long as they may be',
    `${FROM}${DATED}X-A: ${'a'.repeat(993)}\r\n\r\n${'x'.repeat(998)}\r\n\r\n${'y'.repeat(998)}\r\n`,
  ],
  ['8-bit header fields', `${FROM}${DATED}Subject: Überfahrt\r\nX-U: ö\r\n\r\nhello\r\n`],
  [
    'octets that are no UTF-8 in the header',
    Buffer.from(`${FROM}${DATED}Subject: \xfcber\xff\r\n\r\nhello\r\n`, 'latin1'),
  ],
  ['dots at the beginning of lines', `${FROM}${DATED}\r\n.\r\n..\r\n...\r\n.a\r\n. \r\n\r\n.\r\n`],
  ['blanks at the ends of lines', `${FROM}${DATED}Subject:  two  blanks \t \r\n\r\nhello \r\n\t\r\n \r\n`],
  ['empty lines at the end', `${FROM}${DATED}\r\nhello\r\n\r\n\r\n\r\n`],
  ['no body', `${FROM}${DATED}\r\n`],
  ['no empty line', `${FROM}${DATED}`],
  [
    'odd field names, order and case',
    `x-A_b.c!: 1\r\nSUBJECT: s\r\n${DATED}fROM: <${desk}>\r\nX-A_B.C!: 2\r\n\r\nhello\r\n`,
  ],
  ['fields without blank and without value', `X-A:1\r\nX-B:\r\n${FROM}${DATED}\r\nhello\r\n`],
  ['folded fields', `${FROM}${DATED}Subject: a\r\n b\r\n\tc\r\n  d\r\nX-A:\r\n 1\r\n\r\nhello\r\n`],
  [
    'Received fields of others',
    `Received: from a by b; x\r\nReceived: from c\r\n by d; y\r\n${FROM}${DATED}\r\nhello\r\n`,
  ],
  ['no final line end', `${FROM}${DATED}\r\nhello`],
  ['broken MIME', `${FROM}${DATED}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n--c--\r\n--b`],
  [
    'names of control fields in the body',
    `${FROM}${DATED}\r\nX-TAGS: a\r\nBcc: b@harbor.example\r\n\r\nX-APIHEADER: c\r\n`,
  ],
  [
    'fields with names like control fields',
    `${FROM}${DATED}X-TAGSET: a\r\nXX-TAGS: b\r\nX-APIHEADERS: c\r\nX-Bcc: d\r\n\r\nhello\r\n`,
  ],
]

for (const [what, message] of MESSAGES) {
  t.test(`${what}: arrives octet for octet below the trace fields`, async (t) => {
    const octets = Buffer.from(message)
    const expected = octets.subarray(-2).toString() === '\r\n' ? octets : Buffer.concat([octets, Buffer.from('\r\n')])
    const { data } = await relayed(t, octets)
    t.equal(split(data, TRACE).rest.toString('latin1'), expected.toString('latin1'))
  })
}

t.test('a message arrives octet for octet however it is cut into segments', async (t) => {
  const message = Buffer.from(`..: dots\r\n${FROM}${DATED}\r\n.\r\n..\r\n.a\r\n\r\n.\r\n`, 'latin1')
  for (const size of [1, 2, 3, 5, 7]) {
    const { data } = await relayed(t, message, async (client, octets) => {
      for (let at = 0; at < octets.length; at += size) await client.send(octets.subarray(at, at + size))
    })
    t.equal(split(data, TRACE).rest.toString('latin1'), message.toString('latin1'))
  }
})

t.test('control fields, Bcc and what the last host writes are taken out, and nothing else changes', async (t) => {
  const removed = [
    'X-APIHEADER: order-9002;\r\n',
    'X-Tags: "a,\r\n b";\r\n',
    'x-settings: {"footer":\r\n\t0}\r\n',
    'X-FOOTER: 0\r\n',
    'X-Unsubscribe : 0\r\n',
    'X-CLICKTRACK:0\r\n',
    'X-OpenTrack: 0\r\n',
    'X-TEMPLATEID: 0\r\n',
    'X-ATTRIBUTES: {"NAME":"Ann"}\r\n',
    'Idempotency-Key: mime-1\r\n',
    'Bcc: a@harbor.example,\r\n b@harbor.example\r\n',
    'BCC: c@harbor.example\r\n',
    'Resent-Bcc: d@harbor.example\r\n',
    'Return-Path: <e@harbor.example>\r\n',
    'Content-Length: 7\r\n',
  ]
  const kept = [
    FROM,
    DATED,
    'To: lena@harbor.example\r\n',
    'X-Other: 1\r\n',
    'X-Another: 2\r\n',
    'Cc: f@harbor.example\r\n',
  ]
  const mixed = removed.flatMap((field, at) => [kept[at] ?? '', field]).join('')
  const { data } = await relayed(t, `${mixed}\r\nhello\r\n`)
  t.equal(split(data, TRACE).rest.toString(), `${kept.join('')}\r\nhello\r\n`)
})

const TIME = '\\w{3}, \\d{2} \\w{3} \\d{4} [\\d:]{8} \\+0000'

t.test(
  'the Received field tells protocol, queue id and time, and nothing of the client; the return path is ours',
  async (t) => {
    const { data, id, from } = await relayed(t, `${FROM}${DATED}\r\nhello\r\n`)
    t.match(split(data, TRACE).added.at(-1), new RegExp(`^Received: by relay\\.test with ESMTPSA id ${id}; ${TIME}$`))
    t.notMatch(data.toString('latin1').replace(DATED, ''), /127\.0\.0\.1|client\.test/)
    t.match(from, /@relay\.test$/)
  },
)

t.test('a message that came with SMTPUTF8 says so in its Received field', async (t) => {
  const client = await openSession(t, service, sender)
  await client.command(`MAIL FROM:<${desk}> SMTPUTF8`)
  await client.command('RCPT TO:<zoë@harbor.example>')
  await client.command('DATA')
  queueId(await client.finish(`${FROM}${DATED}\r\nhello\r\n`))
  const { data } = await until('the message', () => sink.messages.find(({ to }) => to[0] === 'zoë@harbor.example'))
  t.match(split(data, TRACE).added.at(-1), / with UTF8SMTPSA id /)
})

t.test('Date and Message-ID are added only where they are missing', async (t) => {
  const neither = split((await relayed(t, `${FROM}\r\nhello\r\n`)).data, [...TRACE, 'Date', 'Message-ID'])
  t.equal(neither.rest.toString(), `${FROM}\r\nhello\r\n`)
  t.ok(Math.abs(Date.parse(neither.added[TRACE.length]?.slice(6) ?? '') - Date.now()) < 60_000)
  const undated = await relayed(t, `message-id: <1@client.test>\r\n${FROM}\r\nhello\r\n`)
  t.equal(
    split(undated.data, [...TRACE, 'Date']).rest.toString(),
    `message-id: <1@client.test>\r\n${FROM}\r\nhello\r\n`,
  )
  const nameless = await relayed(t, `date: Mon, 05 Jan 2026 10:11:12 +0000\r\n${FROM}\r\nhello\r\n`)
  const { added, rest } = split(nameless.data, [...TRACE, 'Message-ID'])
  t.equal(added[TRACE.length], `Message-ID: <${nameless.id}@${sender.domain}>`)
  t.equal(rest.toString(), `date: Mon, 05 Jan 2026 10:11:12 +0000\r\n${FROM}\r\nhello\r\n`)
})

t.test(
  'with RECEIVED_CLIENT=show it names host name and address of the client, where the host name is valid',
  async (t) => {
    const open = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, RECEIVED_CLIENT: 'show' })
    await open.openRelay()
    await openWorker(t, open)
    const own = await open.makeSender()
    for (const [name, shown] of [
      ['client_1.test', 'client_1.test'],
      ['[192.0.2.1]', '[192.0.2.1]'],
      ['a(b)', 'unknown'],
      ['a;b', 'unknown'],
      ['<a@b>', 'unknown'],
      ['häfen', 'unknown'],
    ] as const) {
      const recipient = `r${++numbers}@harbor.example`
      const client = await openSession(t, open, own)
      await client.command(`EHLO ${name}`)
      const message = `From: desk@${own.domain}\r\n${DATED}\r\nhello\r\n`
      const id = queueId(await client.submit(`desk@${own.domain}`, recipient, message))
      const { data } = await until('the message', () => sink.messages.find(({ to }) => to[0] === recipient))
      const received = split(data, TRACE).added.at(-1) ?? ''
      const head = `Received: from ${shown} ([127.0.0.1]) by relay.test with ESMTPSA id ${id}; `
      t.equal(received.slice(0, head.length), head)
      t.match(received.slice(head.length), new RegExp(`^${TIME}$`))
    }
  },
)

t.test('a message of 10 MB arrives octet for octet', async (t) => {
  const line = `${'0123456789'.repeat(7)}\r\n`
  const message = Buffer.from(`${FROM}${DATED}\r\n${line.repeat(10_000_000 / line.length)}`)
  const { data } = await relayed(t, message)
  t.ok(split(data, TRACE).rest.equals(message))
})
