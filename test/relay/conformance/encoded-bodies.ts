import type { ParsedMail } from 'mailparser'

export const LONG = `${'Berth 4 is ready. '.repeat(100)}end`
const LONG_HTML = `<p>${'Berth 4 = ready. '.repeat(100)}</p>`
const UMLAUTS = 'Fähre über Köln, '.repeat(100)
const FILE = Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7) % 256))

export function multipart(kind: string, ...parts: string[]): string {
  return `MIME-Version: 1.0\r\nContent-Type: multipart/${kind}; boundary=b\r\n\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
}

/** A part: its fields, and its content. */
export function part(content: string, ...fields: string[]): string {
  return `${fields.map((field) => `${field}\r\n`).join('')}\r\n${content}`
}

export const SMALL = 'Content-Type: text/plain\r\n\r\nsmall'

export const SIGNATURE = 'Content-Type: application/pgp-signature\r\n\r\n-----BEGIN PGP SIGNATURE-----\r\n'
export const SIGNED = 'signed; protocol="application/pgp-signature"'
/** A message with a signed part, to be attached to one whose boundary is another. */
const WITHIN = multipart(SIGNED, SMALL.replace('small', LONG), SIGNATURE)
  .replaceAll('--b', '--c')
  .replace('boundary=b', 'boundary=c')

/** The type of a file as it is written. */
function typeOf(file: ParsedMail['attachments'][number] | undefined): unknown {
  return (file?.headers.get('content-type') as { value?: string } | undefined)?.value
}

/** Name and type of an attached message, its header and its text. */
function readAttached({ attachments: [file] }: ParsedMail): unknown {
  const [header = '', text = ''] = (file?.content.toString() ?? '').split(/(?<=\r\n)\r\n/)
  return [file?.filename, typeOf(file), header, text.replaceAll('=\r\n', '').trim()]
}

export interface Encoded {
  readonly what: string
  readonly message: string
  readonly corrected: string
  readonly read: (mail: ParsedMail) => unknown
  readonly found: unknown
}

/** Bodies with long lines by kind, and what a reader finds after they were encoded. */
export const ENCODED: readonly Encoded[] = [
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
    read: readAttached,
    found: [
      'fwd.eml',
      'message/rfc822',
      'Subject: inner\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n',
      LONG,
    ],
  },
  {
    what: 'an attached message with a signed part',
    message: multipart('mixed', SMALL, `Content-Type: message/rfc822; name="fwd.eml"\r\n\r\n${WITHIN}`),
    corrected: 'part 2 was encoded',
    read: ({ attachments: [file] }) => [file?.filename, typeOf(file), file?.content.toString().includes(LONG)],
    found: ['fwd.eml', 'application/octet-stream', true],
  },
  {
    what: 'the header of a part',
    message: multipart(
      'mixed',
      SMALL,
      `Content-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\nContent-Description: ${'word '.repeat(300)}end\r\n\r\na,b`,
    ),
    corrected: 'the header of part 2 was folded',
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
    what: 'a part with comments before its type and encoding',
    message: multipart(
      'mixed',
      SMALL,
      part(
        LONG_HTML.replaceAll('=', '=3D'),
        'Content-Type: (a page) text/html',
        'Content-Transfer-Encoding: (as it is) quoted-printable',
      ),
    ),
    corrected: 'part 2 was encoded',
    read: ({ html, attachments: [file] }) => String(html || file?.content).includes(LONG_HTML),
    found: true,
  },
  {
    what: 'a type without a semicolon',
    message: `MIME-Version: 1.0\r\nContent-Type: text/html charset=utf-8\r\n\r\n${LONG_HTML}\r\n`,
    corrected: 'Content-Type got its semicolon; the body was encoded',
    read: ({ html }) => String(html).trim(),
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
