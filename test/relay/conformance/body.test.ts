import { createHash } from 'node:crypto'
import type { ParsedMail } from 'mailparser'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { NOTHING, openSession, shown, stored } from '../session.ts'
import { accepted } from './accepted.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const HEADER = `From: Ship Desk <${desk}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n`

const LONG = `${'Berth 4 is ready. '.repeat(100)}end`
const LONG_HTML = `<p>${'Berth 4 = ready. '.repeat(100)}</p>`
const UMLAUTS = 'Fähre über Köln, '.repeat(100)
const FILE = Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7) % 256))

function multipart(kind: string, ...parts: string[]): string {
  return `MIME-Version: 1.0\r\nContent-Type: multipart/${kind}; boundary=b\r\n\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
}

/** A part: its fields, and its content. */
function part(content: string, ...fields: string[]): string {
  return `${fields.map((field) => `${field}\r\n`).join('')}\r\n${content}`
}

const SMALL = 'Content-Type: text/plain\r\n\r\nsmall'

const SIGNATURE = 'Content-Type: application/pgp-signature\r\n\r\n-----BEGIN PGP SIGNATURE-----\r\n'
const SIGNED = 'signed; protocol="application/pgp-signature"'

interface Encoded {
  readonly what: string
  readonly message: string
  readonly corrected: string
  readonly read: (mail: ParsedMail) => unknown
  readonly found: unknown
}

const ENCODED: readonly Encoded[] = [
  {
    what: 'a text without MIME',
    message: `\r\n${LONG}\r\n`,
    corrected: 'the body was encoded',
    read: ({ text }) => text?.trim(),
    found: LONG,
  },
  {
    what: 'a text in 8bit',
    message: `MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${UMLAUTS}\r\n\r\nend\r\n`,
    corrected: 'the body was encoded',
    read: ({ text }) => text?.trim(),
    found: `${UMLAUTS}\n\nend`,
  },
  {
    what: '8-bit text without a charset',
    message: `\r\n${UMLAUTS}\r\n`,
    corrected: 'the body was encoded',
    read: ({ text }) => text?.trim(),
    found: UMLAUTS.trim(),
  },
  {
    what: 'HTML in quoted-printable',
    message: `MIME-Version: 1.0\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${LONG_HTML.replaceAll('=', '=3D')}\r\n`,
    corrected: 'the body was encoded',
    read: ({ html }) => String(html).trim(),
    found: LONG_HTML,
  },
  {
    what: 'one of two texts',
    message: multipart('alternative', SMALL, `Content-Type: text/html\r\n\r\n${LONG_HTML}`),
    corrected: 'part 2 was encoded',
    read: ({ text, html }) => [text?.trim(), String(html).trim()],
    found: ['small', LONG_HTML],
  },
  {
    what: 'base64 in one line',
    message: multipart(
      'mixed',
      SMALL,
      part(
        FILE.toString('base64'),
        'Content-Type: application/pdf; name=a.pdf',
        'Content-Transfer-Encoding: base64',
        'Content-Disposition: attachment; filename=a.pdf',
      ),
    ),
    corrected: 'part 2 was encoded',
    read: ({ attachments: [file] }) => [file?.filename, file?.contentType, file?.content.equals(FILE)],
    found: ['a.pdf', 'application/pdf', true],
  },
  {
    what: 'a file without an encoding',
    message: multipart(
      'mixed',
      SMALL,
      `Content-Type: application/json\r\nContent-Disposition: attachment; filename=a.json\r\n\r\n${LONG}`,
    ),
    corrected: 'part 2 was encoded',
    read: ({ attachments: [file] }) => [file?.filename, file?.content.toString()],
    found: ['a.json', LONG],
  },
  {
    what: 'two parts of three levels',
    message: multipart(
      'mixed',
      part(
        `--c\r\n${part(LONG, 'Content-Type: text/plain')}\r\n--c\r\n${part(LONG_HTML, 'Content-Type: text/html')}\r\n--c--\r\n`,
        'Content-Type: multipart/alternative; boundary=c',
      ),
      SMALL,
    ),
    corrected: '2 parts were encoded',
    read: ({ html }) => String(html).includes(LONG_HTML),
    found: true,
  },
  {
    what: 'an attached message',
    message: multipart(
      'mixed',
      SMALL,
      `Content-Type: message/rfc822; name="fwd.eml"\r\n\r\nSubject: inner\r\n\r\n${LONG}\r\n`,
    ),
    corrected: 'part 2 was encoded',
    read: ({ attachments: [file] }) => [file?.filename, file?.headers.get('content-type'), file?.content.toString()],
    found: [
      'fwd.eml',
      { value: 'application/octet-stream', params: { name: 'fwd.eml' } },
      `Subject: inner\r\n\r\n${LONG}\r\n`,
    ],
  },
  {
    what: 'the header of a part',
    message: multipart(
      'mixed',
      SMALL,
      `Content-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\nContent-Description: ${'word '.repeat(300)}end\r\n\r\na,b`,
    ),
    corrected: 'lines outside of its parts were broken',
    read: ({ attachments: [file] }) => [file?.filename, file?.content.toString()],
    found: ['a.csv', 'a,b'],
  },
  {
    what: 'a part whose header has some, too,',
    message: multipart(
      'mixed',
      SMALL,
      part(
        LONG,
        'Content-Type: text/csv; name=a.csv',
        'Content-Transfer-Encoding: 7bit',
        `Content-Description: ${'word '.repeat(300)}end`,
        'Content-Disposition: attachment; filename=a.csv',
      ),
    ),
    corrected: 'part 2 was encoded',
    read: ({ attachments: [file] }) => [file?.filename, file?.content.toString()],
    found: ['a.csv', LONG],
  },
  {
    what: 'a part of a boundary in pieces',
    message: multipart('mixed', `Content-Type: text/plain\r\n\r\n${LONG}`)
      .replace('boundary=b', 'boundary*0="ab"; boundary*1="cd"')
      .replaceAll('--b', '--abcd'),
    corrected: 'part 1 was encoded',
    read: ({ text }) => text?.trim(),
    found: LONG,
  },
  {
    what: 'the signature of a signed part',
    message: multipart(
      SIGNED,
      SMALL,
      `Content-Type: application/pkcs7-signature; name=smime.p7s\r\nContent-Transfer-Encoding: base64\r\n\r\n${FILE.toString('base64')}`,
    ),
    corrected: 'part 2 was encoded',
    read: ({ attachments }) => attachments.at(-1)?.content.equals(FILE),
    found: true,
  },
  {
    what: 'a type without a semicolon',
    message: `MIME-Version: 1.0\r\nContent-Type: text/html charset=utf-8\r\n\r\n${LONG_HTML}\r\n`,
    corrected: 'the body was encoded',
    // This reader takes it for a file of an unknown type.
    read: ({ html, text, attachments }) => String(html || text || attachments[0]?.content).trim(),
    found: LONG_HTML,
  },
  {
    what: 'the text before and after the parts',
    message: multipart('mixed', SMALL).replace('\r\n\r\n--b', `\r\n\r\n${LONG}\r\n--b`) + LONG,
    corrected: 'lines outside of its parts were broken',
    read: ({ text }) => text?.trim(),
    found: 'small',
  },
]

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
    t.match(reply, '(the body was encoded)')
  })
}
