/** The text after the From field of messages as odd programs write them, the same at each run. */
export function oddMessages(count: number, domain: string): string[] {
  const random = createRandom()
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  return Array.from({ length: count }, (_, at) => {
    const fields = [`To: lena@harbor.example`, `Subject: odd ${at}`, ...HEADERS.filter(() => random() < 0.15)]
    const body = one(BODIES)
    return `${fields.map((field) => `${field.replaceAll('#', domain)}\r\n`).join('')}${body}`
  })
}

/** Mulberry32: small, and good enough to choose. */
function createRandom(): () => number {
  let state = 20_261_129
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
}

const HEADERS: readonly string[] = [
  `References: ${Array.from({ length: 70 }, (_, at) => `<a-message-${at}@#>`).join(' ')}`,
  `X-Words: ${'word '.repeat(400)}end`,
  `X-Token: ${'t'.repeat(1200)}`,
  `X-Tabs:\t${'tab\t'.repeat(300)}end`,
  `Comments: ${'Fähre '.repeat(200)}end`,
  `Cc: ${Array.from({ length: 90 }, (_, at) => `"Crew, ${at}" <crew${at}@harbor.example>`).join(', ')}`,
  'Reply-To : Desk <desk@#>',
  'X-Spaced \t:  two  blanks  ',
  'X-Folded: a\r\n \r\n\tb\r\n  c',
  'X-Empty:',
  'X-Blank: \r\n \r\n',
  'Date: Sun, 29 Nov 2026 10:00:00 +0000\r\nDate: Sun, 29 Nov 2026 10:00:00 +0000',
  'Message-ID: <odd@#>\r\nMessage-Id: <odd@#>',
  'In-Reply-To: <a@#>\r\n <b@#>',
  'Sender: root (Cron Daemon)',
  'Keywords: =?utf-8?Q?F=C3=A4hre?=\r\n =?utf-8?Q?_K=C3=B6ln?=',
  'X-Latin: F\xe4hre',
  'X-Quotes: "a \\" b" (a \\) comment (nested))',
  'Received: from a.example by b.example; Sun, 29 Nov 2026 09:00:00 +0000',
  'List-Unsubscribe: <https://a.example/u?a=b>, <mailto:u@a.example>',
  'List-Id: "A, list" <list.#>',
  'Precedence: bulk',
  'Return-Path: <a@b.example>',
  'DKIM-Signature: v=1; a=rsa-sha256; d=other.example; s=x; h=from; bh=AAAA; b=AAAA',
  'X-Dot: .',
  '..: dots',
]

const LONG = `${'A long line of words. '.repeat(70)}end`
const UMLAUTS = 'Fähre über Köln '.repeat(90)
const utf8 = (text: string): string => Buffer.from(text).toString('latin1')
const mime = (fields: string, body: string): string => `MIME-Version: 1.0\r\n${fields}\r\n\r\n${body}`
const multipart = (kind: string, ...parts: string[]): string =>
  mime(
    `Content-Type: multipart/${kind}; boundary="=_b"`,
    `preamble\r\n${parts.map((part) => `--=_b\r\n${part}\r\n`).join('')}--=_b--\r\nepilogue\r\n`,
  )
const SMALL = 'Content-Type: text/plain\r\n\r\nsmall  \r\n'

/** The end of the header and the body, one character per octet. */
const BODIES: readonly string[] = [
  '\r\nhello\r\n',
  '\r\nhello',
  '\r\n',
  '',
  '\r\n\r\n\r\n\r\n',
  '\r\n.\r\n..\r\n.a\r\nFrom here\r\n>From there\r\n',
  '\r\nblanks \t \r\n\t\r\n  two  blanks\r\n\r\n\r\n',
  `\r\n${LONG}\r\n`,
  `\r\n${'x'.repeat(998)}\r\n`,
  `\r\n${'x'.repeat(5000)}\r\n`,
  utf8(`\r\n${UMLAUTS}\r\n`),
  utf8('\r\nFähre\r\n'),
  '\r\nF\xe4hre\r\n',
  mime('Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8-bit', utf8('Fähre\r\n')),
  mime('Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit', utf8(`${UMLAUTS}\r\n`)),
  mime(
    'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable',
    `<p>${LONG.replaceAll('.', '=2E')}</p>\r\n`,
  ),
  mime(
    'Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64',
    `${Buffer.from(LONG).toString('base64')}\r\n`,
  ),
  mime('Content-Type: text/plain; format=flowed', 'a line \r\nthat flows \r\non\r\n'),
  multipart('alternative', SMALL, `Content-Type: text/html\r\n\r\n<p>${LONG}</p>`),
  multipart('mixed', SMALL, `Content-Type: application/json; name=a.json\r\n\r\n{"a":"${LONG}"}`),
  multipart(
    'mixed',
    SMALL,
    `Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n${'QUJD'.repeat(500)}`,
  ),
  multipart('mixed', SMALL, `Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\n${LONG}`),
  multipart('mixed', SMALL, `Content-Type: text/plain\r\nContent-Description: ${'word '.repeat(300)}end\r\n\r\nx`),
  multipart('mixed', SMALL).replace('preamble', LONG).replace('epilogue', LONG),
  multipart('signed; protocol="application/pgp-signature"', SMALL, 'Content-Type: application/pgp-signature\r\n\r\nx'),
  multipart('mixed', SMALL).replace('--=_b--\r\n', ''),
  mime('Content-Type: multipart/mixed', `--b\r\n\r\n${LONG}\r\n--b--\r\n`),
]
