import t from 'tap'
import { processorTimeOf } from '../helpers/pace.ts'
import { makeService } from '../helpers/service.ts'
import { type SinkMessage, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'
import { mail, NOTHING, openSession, queueId, shown, stored } from './session.ts'

const sink = await startSink(t)
const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
await service.openRelay()
await openWorker(t, service)
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const template = await service.core.templates.create({
  accountId: sender.accountId,
  name: 'berth ready',
  content: '<p>Hello [%NAME%], berth [% BERTH %]</p>',
})

async function arrived(recipient: string): Promise<string> {
  const message = await until<SinkMessage>('the message', () => sink.messages.find(({ to }) => to[0] === recipient))
  return message.data.toString()
}

t.test(
  'X-TEMPLATEID puts the template in place of the content, merged with X-ATTRIBUTES, for each recipient',
  async (t) => {
    const recipients = ['one@harbor.example', 'two@harbor.example']
    const message = [
      `From: "Ship, Desk" <${desk}>`,
      'To: one@harbor.example, two@harbor.example',
      `Reply-To: Harbor <harbor@${sender.domain}>`,
      'Subject: Berth [%BERTH%]',
      `X-TemplateId: "${template.id}";`,
      'X-ATTRIBUTES: {"NAME":"Zoë","BERTH":4,\r\n "MISSING":null};',
      'X-APIHEADER: order-9003',
      'X-SETTINGS: {"bcc":"books@quay.example"}',
      'Content-Type: text/html',
      '',
      '%20',
      '',
    ].join('\r\n')
    const client = await openSession(t, service, sender)
    const { deliveries } = await shown(service, await client.submit(desk, recipients, message))
    t.strictSame(
      deliveries.map(({ recipient, reference }) => [recipient, reference]),
      [
        ['one@harbor.example', 'order-9003'],
        ['books@quay.example', 'order-9003'],
        ['two@harbor.example', 'order-9003'],
      ],
    )
    for (const recipient of recipients) {
      const text = await arrived(recipient)
      t.match(text, /^Subject: Berth 4\r$/m)
      t.match(text, new RegExp(`^From: "Ship, Desk" <${desk}>\\r$`, 'm'))
      t.match(text, new RegExp(`^Reply-To: .*harbor@${sender.domain}`, 'm'))
      t.match(text, new RegExp(`^To: .*${recipient}`, 'm'))
      t.match(text, /Hello Zo(ë|=C3=AB), berth 4/)
      t.notMatch(text, /x-templateid|x-attributes|x-apiheader|x-settings|books@/i)
    }
  },
)

t.test('the files of a message stay with the template', async (t) => {
  const message = [
    `From: ${desk}`,
    'Subject: plan',
    `X-TEMPLATEID: ${template.id}`,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'not this',
    '--b',
    'Content-Type: application/octet-stream',
    'Content-Disposition: attachment; filename="plan.bin"',
    'Content-Transfer-Encoding: base64',
    '',
    'dGhlIHBsYW4=',
    '--b--',
    '',
  ].join('\r\n')
  const client = await openSession(t, service, sender)
  queueId(await client.submit(desk, 'files@harbor.example', message))
  const text = await arrived('files@harbor.example')
  t.match(text, /Hello , berth /)
  t.match(text, /filename="?plan\.bin/)
  t.match(text, /^dGhlIHBsYW4=\r$/m)
  t.notMatch(text, /not this/)
})

t.test('an invalid Reply-To is rejected, since a template is composed with it', async (t) => {
  const message = [
    `From: ${desk}`,
    'Reply-To: Harbor <berth..4@quay..example>',
    'Subject: Berth',
    `X-TEMPLATEID: ${template.id}`,
    '',
    'not this',
    '',
  ].join('\r\n')
  const client = await openSession(t, service, sender)
  t.match(await client.submit(desk, 'reply@harbor.example', message), /^550 .*Reply-To/is)
})

t.test('header fields, all of the subject, and what images are shown as stay with the template', async (t) => {
  const subject = 'Berth '.repeat(120).trim()
  const message = [
    `From: ${desk}`,
    `Reply-To: Harbor <harbor@${sender.domain}>, Desk <desk@${sender.domain}>`,
    `Subject: ${subject.replaceAll(/(.{60}) /g, '$1\r\n ')}`,
    'In-Reply-To: <question@harbor.example>',
    'References: <größe@harbor.example> <question@harbor.example>',
    'X-Order: 9003',
    `X-TEMPLATEID: ${template.id}`,
    'Content-Type: multipart/related; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    'not this',
    '--b',
    'Content-Type: image/png; name=chart.png',
    'Content-Disposition: inline; filename=chart.png',
    'Content-ID: <chart>',
    'Content-Transfer-Encoding: base64',
    '',
    'dGhlIHBsYW4=',
    '--b--',
    '',
  ].join('\r\n')
  const client = await openSession(t, service, sender)
  queueId(await client.submit(desk, 'fields@harbor.example', message))
  const text = await arrived('fields@harbor.example')
  const unfolded = text.replaceAll(/\r\n[ \t]/g, ' ')
  t.match(unfolded, `Subject: ${subject}\r\n`)
  t.match(unfolded, /^In-Reply-To: <question@harbor.example>\r$/m)
  t.match(unfolded, /^References: <question@harbor.example>\r$/m)
  t.match(unfolded, /^X-Order: 9003\r$/m)
  t.match(unfolded, new RegExp(`^Reply-To: .*harbor@${sender.domain}.*desk@${sender.domain}`, 'm'))
  t.match(unfolded, /^Content-Type: image\/png/m)
  t.match(unfolded, /^Content-ID: <chart>\r$/m)
  t.match(unfolded, /^Content-Disposition: inline/m)
  t.notMatch(text, /x-templateid/i)
})

t.test('X-TEMPLATEID of no template, or of another account’s, is refused with 550', async (t) => {
  const other = await service.makeSender()
  const own = await service.makeSender()
  const { id } = await service.core.templates.create({ accountId: other.accountId, name: 'theirs', content: 'x' })
  const client = await openSession(t, service, own)
  for (const wanted of [id, 999_999, '9'.repeat(400)]) {
    const fields = `X-TEMPLATEID: ${wanted}\r\n`
    const reply = await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own, fields))
    t.equal(reply, '550 5.6.0 Invalid templateId')
  }
  t.strictSame(await stored(service, own), NOTHING)
})

t.test('the variables of a template are read from X-ATTRIBUTES, or else from their defaults', async (t) => {
  const { id } = await service.core.templates.create({
    accountId: sender.accountId,
    name: 'declared',
    content: '<p>[%NAME%], [%FEE%]</p>',
    subject: 'For [%NAME%]',
    variables: [
      { name: 'NAME', type: 'string', required: true, default: null },
      { name: 'FEE', type: 'number', required: false, default: '4.50' },
    ],
  })
  const client = await openSession(t, service, sender)
  const submit = (attributes: string) =>
    client.submit(desk, 'declared@harbor.example', `From: ${desk}\r\nX-TEMPLATEID: ${id}\r\n${attributes}\r\nx\r\n`)
  t.equal(await submit(''), '550 5.6.0 Parameter [X-ATTRIBUTES.NAME] not passed')
  const wrong = 'X-ATTRIBUTES: {"NAME":"Zoe","FEE":"much"}\r\n'
  t.equal(await submit(wrong), '550 5.6.0 Parameter [X-ATTRIBUTES.FEE] is invalid: must be a number')
  queueId(await submit('X-ATTRIBUTES: {"NAME":"Zoe"}\r\n'))
  const text = await arrived('declared@harbor.example')
  t.match(text, /<p>Zoe, 4\.50<\/p>/)
  t.match(text, /^Subject: For Zoe\r$/m, 'a message without a subject has the template’s')
})

t.test('X-TEMPLATEID 0 or blank is none: the message keeps its own content', async (t) => {
  const client = await openSession(t, service, sender)
  for (const none of ['0', '', '"";']) {
    const fields = `X-TEMPLATEID: ${none}\r\n`
    const id = queueId(await client.submit(desk, 'lena@harbor.example', mail(sender, fields)))
    const [row] = await service.sql`select format from messages where id = ${id}::uuid`
    t.equal(row?.format, 'mime')
  }
})

function nested(depth: number): string {
  const levels = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  )
  return `${levels.join('')}\r\nhello\r\n`
}

/** What costs a MIME parser dear, and must come to an end soon: bodies that go with a template are parsed. */
const BOMBS: readonly [what: string, message: string, reply: RegExp][] = [
  ['parts in parts, 10,000 deep', nested(10_000), /^550 5\.6\.0 /],
  [
    '100,000 parts',
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\na\r\n'.repeat(100_000)}`,
    /^550 5\.6\.0 /,
  ],
  ['40,000 Reply-To addresses', `Reply-To: ${'a@b.example,'.repeat(40_000)}\r\n\r\nhello\r\n`, /^(250|550) /],
  ['400,000 open comments', `Reply-To: ${'('.repeat(400_000)}\r\n\r\nhello\r\n`, /^(250|550) /],
  ['100,000 nested elements', `Content-Type: text/html\r\n\r\n${'<div>'.repeat(100_000)}\r\n`, /^250 /],
  ['an unknown charset', 'Content-Type: text/plain; charset=no-such\r\n\r\nhello\r\n', /^250 /],
  [
    'a file name with a line end',
    "Content-Disposition: attachment; filename*=UTF-8''a%0D%0Ab\r\n\r\nhello\r\n",
    /^(250|550) /,
  ],
]

for (const [what, message, expected] of BOMBS) {
  t.test(`with a template, ${what} is answered soon, and the session goes on`, async (t) => {
    const client = await openSession(t, service, sender)
    const head = `From: ${desk}\r\nX-TEMPLATEID: ${template.id}\r\n`
    const took = await processorTimeOf(async () => {
      t.match(await client.submit(desk, 'bomb@harbor.example', head + message), expected)
    })
    t.ok(took < 5000, `${took} ms`)
    t.equal(await client.command('NOOP'), '250 2.0.0 OK')
  })
}
