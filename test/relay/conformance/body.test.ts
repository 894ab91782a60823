import { createHash } from 'node:crypto'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { NOTHING, openSession, shown, stored } from '../session.ts'
import { accepted } from './accepted.ts'
import { ENCODED, LONG, multipart, part, SIGNATURE, SIGNED, SMALL } from './encoded-bodies.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const HEADER = `From: Ship Desk <${desk}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n`

for (const { what, message, corrected, read, found } of ENCODED) {
  t.test(`${what} with long lines is encoded, and reads as before`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${HEADER}${message}`)
    t.match(reply, `(${corrected})`)
    t.match(await shown(service, reply), { corrected })
    const { text, read: mail } = await accepted(service, reply)
    for (const line of text.split('\r\n')) t.ok(line.length <= 998)
    t.strictSame(read(mail), found)
    t.equal(mail.subject, 'Berth 4')
  })
}

for (const [what, message] of [
  [
    'text before the parts',
    multipart('mixed', SMALL).replace('\r\n\r\n--b', `\r\n\r\n${'y'.repeat(76 * 14)}--b\r\n--b`),
  ],
  [
    'quoted-printable',
    multipart(
      'mixed',
      SMALL,
      part(`=2D-b\r\n${LONG}`, 'Content-Type: text/plain', 'Content-Transfer-Encoding: quoted-printable'),
    ),
  ],
] as const) {
  t.test(`a piece of ${what} does not become a delimiter`, async (t) => {
    const client = await openSession(t, service, sender)
    const { text } = await accepted(service, await client.submit(desk, 'lena@harbor.example', `${HEADER}${message}`))
    const delimiters = (written: string): number => written.split(/^--b/m).length - 1
    t.equal(delimiters(text), delimiters(message))
  })
}

for (const length of [998, 999]) {
  t.test(`a line of ${length} characters ${length > 998 ? 'is encoded' : 'stays as it is'}`, async (t) => {
    const client = await openSession(t, service, sender)
    const message = `${HEADER}\r\nfirst\r\n${'x'.repeat(length)}\r\nlast\r\n`
    const reply = await client.submit(desk, 'lena@harbor.example', message)
    const { text, read } = await accepted(service, reply)
    t.equal(text.endsWith(message), length <= 998)
    t.equal(read.text?.trim(), `first\n${'x'.repeat(length)}\nlast`)
  })
}

/** Bodies that nobody may change, and the problem named. */
const REFUSED: readonly (readonly [what: string, message: string, problem: string])[] = [
  [
    'a signed part',
    multipart(SIGNED, `Content-Type: text/plain\r\n\r\nfirst\r\n${LONG}`, SIGNATURE),
    'part 1, which is signed, has more than 998 characters in line 2',
  ],
  [
    'a multipart without its boundary',
    multipart('mixed', LONG).replace('boundary=b', 'boundary=c'),
    'the body, whose boundary is not in it, has more than 998 characters in line 2',
  ],
  [
    'a part below a signed one',
    multipart(SIGNED, `Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n${LONG}\r\n--c--`, SIGNATURE),
    'part 1, which is signed, has more than 998 characters in line 3',
  ],
  [
    'a part of an unknown encoding',
    multipart('mixed', `Content-Transfer-Encoding: x-own\r\n\r\n${LONG}`),
    'part 1, whose Content-Transfer-Encoding is unknown, has more than 998 characters in line 1',
  ],
  [
    'a part with a long field without a blank',
    multipart('mixed', `Content-Type: text/plain; name=${'x'.repeat(1000)}\r\n\r\na`),
    'the line "Content-Type" cannot be corrected in the header of part 1',
  ],
]

for (const [what, message, problem] of REFUSED) {
  t.test(`${what} with long lines is refused`, async (t) => {
    const own = await service.makeSender()
    const client = await openSession(t, service, own)
    const reply = await client.submit(
      `desk@${own.domain}`,
      'lena@harbor.example',
      `From: desk@${own.domain}\r\n${message}`,
    )
    t.match(reply, `550 5.6.0 Malformed message: ${problem}`)
    t.strictSame(await stored(service, own), NOTHING)
  })
}

for (const [canonicalization, body] of [
  ['simple/simple', `${LONG}\r\n`],
  ['relaxed/relaxed', `${LONG.replaceAll('. ', '.   ')}  \r\n\r\n`],
] as const) {
  const relaxed = `${body
    .replace(/[ \t]+/g, ' ')
    .replace(/ \r\n/g, '\r\n')
    .replace(/(\r\n)+$/, '')}\r\n`
  const hash = createHash('sha256')
    .update(canonicalization.startsWith('simple') ? body : relaxed)
    .digest('base64')
  const signature = (bh: string): string =>
    `DKIM-Signature: v=1; a=rsa-sha256; c=${canonicalization}; d=a.example;\r\n s=s; h=from; bh=${bh}; b=AAAA\r\n`

  t.test(`a body with a ${canonicalization} DKIM signature that matches it is refused`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${signature(hash)}${HEADER}\r\n${body}`)
    t.match(reply, '550 5.6.0 Malformed message: the body, which is signed, has more than 998 characters in line 1')
  })

  t.test(`a body whose ${canonicalization} DKIM signature is of another one is encoded`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${signature('AAAA')}${HEADER}\r\n${body}`)
    t.match(reply, '(the body was encoded; a DKIM signature that does not verify was removed)')
  })
}
