import { simpleParser } from 'mailparser'
import t from 'tap'
import { filePart } from '../../../packages/core/src/mime/parts.ts'

const MAIL = 'From: a@ship.example\nSubject: inner\n\nhello\n'

/** The part as it is written: its head, and its content. */
function written(type: string, content: string | Buffer, fileName = 'letter.eml'): [head: string, body: string] {
  const text = Buffer.concat(filePart({ fileName, octets: Buffer.from(content), type })).toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  return [text.slice(0, end), text.slice(end + 4)]
}

t.test('a message of ASCII is attached as it is, with CRLF at the ends of its lines', async (t) => {
  for (const content of [MAIL, MAIL.replaceAll('\n', '\r\n'), MAIL.replaceAll('\n', '\r'), MAIL.trimEnd()]) {
    const [head, body] = written('message/rfc822', content)
    t.match(head, /^Content-Type: message\/rfc822;\r\n name="letter\.eml"\r\nContent-Transfer-Encoding: 7bit\r\n/)
    t.equal(body, MAIL.replaceAll('\n', '\r\n'))
  }
  const report = 'Reporting-MTA: dns; mx.ship.example\n\nAction: failed\n'
  for (const type of ['message/delivery-status', 'message/disposition-notification', 'message/feedback-report'])
    t.match(written(type, report)[0], new RegExp(`^Content-Type: ${type};[^]*7bit`))
})

t.test('a message that cannot be written so is a file of no known type, with its name, octet for octet', async (t) => {
  for (const content of [`${MAIL}ä`, `${MAIL}${'x'.repeat(999)}\n`, `${MAIL}\0`]) {
    const [head, body] = written('message/rfc822; charset=utf-8', content)
    t.match(
      head,
      /^Content-Type: application\/octet-stream;\r\n name="letter\.eml"\r\nContent-Transfer-Encoding: base64\r\n/,
    )
    t.match(head, 'filename="letter.eml"')
    t.equal(Buffer.from(body, 'base64').toString(), content)
  }
})

t.test('message/global is encoded only if it is not ASCII, and keeps its type', async (t) => {
  for (const type of ['message/global', 'message/global-headers'])
    t.match(written(type, MAIL)[0], new RegExp(`^Content-Type: ${type};[^]*7bit`))
  t.match(written('message/global', `${MAIL}ä`)[0], /^Content-Type: message\/global;[\s\S]*base64/)
})

t.test('an attached message can be opened by a reader', async (t) => {
  const part = Buffer.concat(filePart({ fileName: 'letter.eml', octets: Buffer.from(MAIL) }))
  const mail = Buffer.concat([
    Buffer.from(
      'From: a@ship.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n',
    ),
    part,
    Buffer.from('--b--\r\n'),
  ])
  const { attachments } = await simpleParser(mail, { skipTextToHtml: true })
  t.match(attachments, [{ contentType: 'message/rfc822', filename: 'letter.eml' }])
  t.match((await simpleParser(attachments[0]?.content as Buffer)).subject, 'inner')
})
