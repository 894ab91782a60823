import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { NOTHING, openSession, queueId, stored } from '../session.ts'
import { accepted } from './accepted.ts'
import { multipart, part, SIGNATURE, SIGNED, SMALL } from './encoded-bodies.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const HEADER = `From: Ship Desk <${desk}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n`

const HTML = 'Content-Type: text/html; charset=utf-8'
const ENCODED = 'Content-Transfer-Encoding: base64'
const WORDS = Buffer.from('<p>ready').toString('base64')

/** Fields of a part, of which the last is removed. */
const TWINS: readonly (readonly string[])[] = [
  [HTML, HTML],
  [HTML, 'content-type: TEXT/HTML;\r\n charset="UTF-8"'],
  [HTML, 'X-Between: a', 'Content-Type:text/html;charset=UTF-8'],
  [HTML, ENCODED, 'content-transfer-encoding: BASE64'],
  [HTML, ENCODED, 'Content-Transfer-Encoding: "base64"'],
  [HTML, 'Content-Disposition: attachment; filename=a.html', 'Content-disposition: ATTACHMENT; filename="a.html"'],
  [HTML, 'Content-ID: <a@b.example>', 'Content-Id: <a@b.example>'],
]
for (const fields of TWINS) {
  t.test(`of the fields ${fields.join(', ')} of a part the last is removed`, async (t) => {
    const client = await openSession(t, service, sender)
    const message = (all: readonly string[]) => `${HEADER}${multipart('mixed', SMALL, part(WORDS, ...all))}`
    const reply = await client.submit(desk, 'lena@harbor.example', message(fields))
    const [name = ''] = fields.at(-1)?.split(':') ?? []
    t.match(reply, `(the second field ${name} of part 2 was removed)`)
    const { text } = await accepted(service, reply)
    t.ok(text.endsWith(message(fields.slice(0, -1))))
  })
}

t.test('so are those of parts in parts, at once with lines that are too long', async (t) => {
  const inner = multipart('alternative', part('a', HTML, HTML), part('x'.repeat(1000), HTML, HTML))
    .replaceAll('--b', '--c')
    .replace('boundary=b', 'boundary=c')
  const client = await openSession(t, service, sender)
  const reply = await client.submit(desk, 'lena@harbor.example', `${HEADER}${multipart('mixed', SMALL, inner)}`)
  t.match(reply, '(2 parts were corrected; part 2.2 was encoded)')
  const { text, read } = await accepted(service, reply)
  t.equal(text.split(HTML).length - 1, 2)
  t.match(read.html, 'x'.repeat(1000))
})

for (const [first, second] of [
  [HTML, 'Content-Type: text/plain; charset=utf-8'],
  [HTML, 'Content-type: text/html; charset=iso-8859-1'],
  [HTML, 'Content-Type: text/html'],
  ['Content-Transfer-Encoding: 7bit', ENCODED],
  ['Content-Disposition: inline', 'content-disposition: attachment'],
] as const) {
  t.test(`a part with the fields ${first} and ${second} is refused`, async (t) => {
    const own = await service.makeSender()
    const client = await openSession(t, service, own)
    const reply = await client.submit(
      `desk@${own.domain}`,
      'lena@harbor.example',
      `From: desk@${own.domain}\r\n${multipart('mixed', SMALL, SMALL, part('a', first, second))}`,
    )
    const [name] = second.split(':')
    t.match(reply, `550 5.6.0 Malformed message: the field ${name} occurs more than once in part 3`)
    t.strictSame(await stored(service, own), NOTHING)
  })
}

t.test('doubled fields that are signed, another sender’s or no header stay as they are', async (t) => {
  const twice = part('a', HTML, HTML)
  const other = `${HTML}\r\nContent-Type: text/plain`
  for (const message of [
    multipart(SIGNED, twice, SIGNATURE),
    multipart(SIGNED, part('a', other), SIGNATURE),
    multipart('mixed', part(`Subject: a\r\n${other}\r\n\r\na`, 'Content-Type: message/rfc822')),
    multipart('mixed', part(`--\r\n\r\n${other}`, 'Content-Type: text/plain')),
    `\r\n--\r\n${other}\r\n\r\na\r\n`,
  ]) {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${HEADER}${message}`)
    t.match(reply, /^250 2\.0\.0 Ok: queued as \w+$/)
    t.ok((await accepted(service, reply)).text.endsWith(message))
  }
})

t.test('they are found however the message is cut into pieces', async (t) => {
  const message = `${HEADER}${multipart('mixed', SMALL, part('a', HTML, 'X-A: b', HTML))}`
  const at = message.indexOf('small')
  for (let cut = at; cut < message.length - 10; cut += 7) {
    const client = await openSession(t, service, sender)
    await client.begin(desk, 'lena@harbor.example')
    await client.send(message.slice(0, cut))
    await new Promise((resolve) => setTimeout(resolve, 2))
    await client.send(`${message.slice(cut)}.\r\n`)
    const reply = await client.reply()
    queueId(reply)
    t.match(reply, '(the second field Content-Type of part 2 was removed)', `${cut}`)
  }
})
