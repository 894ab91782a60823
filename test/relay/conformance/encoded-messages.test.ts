import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { openSession } from '../session.ts'
import { accepted } from './accepted.ts'
import { multipart, part, SIGNATURE, SIGNED, SMALL } from './encoded-bodies.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const HEADER = `From: Ship Desk <${desk}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n`

const ATTACHED = 'Content-Type: message/rfc822; name="a b.eml"'
const INNER = 'From: a@b.example\r\nSubject: inner\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nAhoy = you\r\n'
const EIGHT = `${INNER}F\xc3\xa4hre\r\n`
const LONG = `${INNER}${'word '.repeat(300)}\r\n`
const STATUS =
  'Reporting-MTA: dns; a.example\r\n\r\nFinal-Recipient: rfc822; a@b.example\r\nAction: failed\r\nStatus: 5.1.1\r\n'
const PARTS = multipart(
  'alternative',
  part('plain', 'Content-Type: text/plain'),
  part('<p>html', 'Content-Type: text/html'),
)
  .replaceAll('--b', '--c')
  .split('\r\n\r\n')
  .slice(1)
  .join('\r\n\r\n')
const ALTERNATIVE = 'Content-Type: multipart/alternative; boundary=c'
const ENCODINGS = {
  base64: (text: string) => Buffer.from(text, 'latin1').toString('base64').replace(/.{76}/g, '$&\r\n'),
  'quoted-printable': (text: string) =>
    text
      .replace(
        /[=\x80-\xff-]|(?<!\r)\n/g,
        (char) => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
      )
      .replace(/.{60}(?!$)/gm, (line) => (/=.?$/.test(line) ? line : `${line}=\r\n`)),
}
const label = (encoding: string): string => `Content-Transfer-Encoding: ${encoding}`

async function sent(
  message: string,
): Promise<{ reply: string; text: string; read: Awaited<ReturnType<typeof accepted>>['read'] }> {
  const client = await openSession(t, service, sender)
  const reply = await client.submit(desk, 'lena@harbor.example', Buffer.from(`${HEADER}${message}`, 'latin1'))
  return { reply, ...(await accepted(service, reply)) }
}

/** Parts that must not be encoded, their content, and the encoding that they have then. */
const DECODED: readonly (readonly [what: string, type: string, content: string, encoding: string, written?: string])[] =
  [
    ['a message', ATTACHED, INNER, '7bit'],
    ['a message of a mailbox file', ATTACHED, `From a@b.example Sun Nov 29 10:00:00 2026\r\n${INNER}`, '7bit'],
    ['a message in 8bit', ATTACHED, EIGHT, '8bit'],
    ['a message with the line ends of a file', ATTACHED, INNER.replaceAll('\r\n', '\n'), '7bit', INNER],
    ['a report', 'Content-Type: message/delivery-status', STATUS, '7bit'],
    ['a notification', 'Content-Type: message/disposition-notification', STATUS, '7bit'],
    ['a partial message', 'Content-Type: message/partial; id=a; number=1', INNER, '7bit'],
    [
      'a message elsewhere',
      'Content-Type: message/external-body; access-type=url',
      'Content-Type: image/png\r\n\r\n',
      '7bit',
    ],
    ['a multipart', ALTERNATIVE, PARTS, '7bit'],
  ]
for (const [what, type, content, encoding, written = content] of DECODED) {
  for (const [name, encode] of Object.entries(ENCODINGS)) {
    t.test(`${what} in ${name} is decoded`, async (t) => {
      const { reply, text } = await sent(multipart('mixed', SMALL, part(encode(content), type, label(name))))
      t.match(reply, '(part 2 was decoded)')
      t.ok(text.endsWith(multipart('mixed', SMALL, part(written, type, label(encoding)))), text)
    })
  }
}

t.test('an independent reader finds what was encoded', async (t) => {
  const message = await sent(multipart('mixed', SMALL, part(ENCODINGS.base64(EIGHT), ATTACHED, label('BASE64'))))
  t.equal(message.read.attachments[0]?.content.toString('latin1').trim(), EIGHT.trim())
  const { reply, read } = await sent(
    `MIME-Version: 1.0\r\n${ALTERNATIVE}\r\n${label('Base64')}\r\n\r\n${ENCODINGS.base64(PARTS)}`,
  )
  t.match(reply, '(the body was decoded)')
  t.match(read, { text: 'plain', html: '<p>html' })
})

t.test('what is decoded is written in lines that servers carry', async (t) => {
  const { reply, text, read } = await sent(
    multipart('mixed', SMALL, part(ENCODINGS.base64(LONG), ATTACHED, label('base64'))),
  )
  t.match(reply, '(part 2 was decoded; part 2 was encoded)')
  for (const line of text.split('\r\n')) t.ok(line.length <= 998)
  t.match(read.attachments[0]?.content.toString(), /Subject: inner\r\n/)
  const report = `${STATUS}Diagnostic-Code: smtp; ${'x'.repeat(1500)}\r\n`
  const folded = await sent(
    multipart(
      'report',
      SMALL,
      part(ENCODINGS.base64(report), 'Content-Type: message/delivery-status', label('base64')),
    ),
  )
  t.ok(folded.text.includes(STATUS))
  for (const line of folded.text.split('\r\n')) t.ok(line.length <= 998)
})

t.test('parts within an encoded multipart are corrected as well', async (t) => {
  const inner = PARTS.replace(
    'Content-Type: text/plain\r\n\r\nplain',
    `${ATTACHED}\r\n${label('base64')}\r\n\r\n${ENCODINGS.base64(INNER)}`,
  )
  const { reply, text } = await sent(
    multipart('mixed', SMALL, part(ENCODINGS.base64(inner), ALTERNATIVE, label('base64'))),
  )
  t.match(reply, '(2 parts were corrected)')
  t.ok(text.includes(INNER.trim()))
})

t.test('a message in a digest has its type without saying so', async (t) => {
  const { reply, text } = await sent(multipart('digest', part(ENCODINGS.base64(INNER), label('base64'))))
  t.match(reply, '(part 1 was decoded)')
  t.ok(text.endsWith(multipart('digest', part(INNER, label('7bit')))))
})

t.test('only the label is corrected where nothing is encoded', async (t) => {
  for (const [type, content] of [
    [ALTERNATIVE, PARTS.replace('<p>html', '<p>a=3Dhtml')],
    [ATTACHED, INNER],
  ] as const)
    for (const name of Object.keys(ENCODINGS)) {
      const { reply, text } = await sent(multipart('mixed', SMALL, part(content, type, label(name))))
      t.match(reply, '(part 2 was decoded)')
      t.ok(text.endsWith(multipart('mixed', SMALL, part(content, type, label('7bit')))), `${type} ${name}`)
    }
})

const FILE = 'Content-Type: application/octet-stream;\r\n name="a b.eml"'
for (const [what, content] of [
  ['is no message', '%PDF-1.4 not a message'],
  ['has a NUL', `${INNER}\0`],
  ['has the end of the message around it', `${INNER}\r\n--b--\r\n`],
  ['has the end of the message around it in its first line', `--b\r\n${INNER}`],
] as const) {
  t.test(`an attached message that ${what} is written as a file`, async (t) => {
    const disposition = 'Content-Disposition: attachment'
    const { reply, text } = await sent(
      multipart('mixed', SMALL, part(ENCODINGS.base64(content), ATTACHED, disposition, label('base64'))),
    )
    t.match(reply, '(part 2 was written as a file)')
    t.ok(
      text.endsWith(multipart('mixed', SMALL, part(ENCODINGS.base64(content), disposition, FILE, label('base64')))),
      text,
    )
  })
}

t.test('what is signed, may be encoded, or is within an attached message stays as it is', async (t) => {
  const encoded = part(ENCODINGS.base64(INNER), ATTACHED, label('base64'))
  for (const message of [
    multipart(SIGNED, encoded, SIGNATURE),
    multipart('mixed', part(ENCODINGS.base64(INNER), 'Content-Type: message/global', label('base64'))),
    multipart(
      'mixed',
      part(`Subject: a\r\n${ALTERNATIVE}\r\n\r\n--c\r\n${encoded}\r\n--c--\r\n`, 'Content-Type: message/rfc822'),
    ),
    multipart('mixed', part(ENCODINGS.base64('nothing'), ALTERNATIVE, label('base64'))),
    multipart('mixed', part(INNER, ATTACHED, label('8bit'))),
  ]) {
    const { reply, text } = await sent(message)
    t.match(reply, /^250 2\.0\.0 Ok: queued as \w+$/)
    t.ok(text.endsWith(message), message)
  }
})
