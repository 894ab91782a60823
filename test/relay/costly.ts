/**
 * Messages made to cost as much as can be: for each thing of a message that is read, what is worst for whoever reads it, of about
 * so many octets. None has the From field, which stands in front.
 */
export interface Costly {
  readonly what: string
  /** The header's own fields and the body, with the empty line between. */
  readonly make: (octets: number) => string
  /** Octets at most; 500 kB, the header's, when left out. */
  readonly most?: number
  /** In place of the From field. */
  readonly from?: (octets: number, address: string) => string
  readonly recipients?: number
}

const HEAD = 500_000
const MIB = 1024 * 1024
const WHOLE = 29 * MIB

const times = (text: string, octets: number): string => text.repeat(Math.max(1, Math.floor(octets / text.length)))
const mail = (fields: string, body = 'hello\r\n'): string => `${fields}\r\n${body}`
/** A field in lines that no server finds too long. */
const folded = (name: string, text: string): string => `${name}: ${text.replace(/.{900}/g, '$&\r\n ')}\r\n`

const TEMPLATE = 'X-TEMPLATEID: #1#\r\n'
const API = 'X-SMTPAPI: {"sub":{"%n%":["Lena"]}}\r\n'
const KEYED = 'Idempotency-Key: #2#\r\n'

/** What an address list can be made of. */
const LISTS: readonly (readonly [what: string, text: (octets: number) => string])[] = [
  ['of comments that do not end', (octets) => times('(', octets)],
  ['of comments in comments', (octets) => times('(', octets / 2) + times(')', octets / 2)],
  ['of quoted pairs', (octets) => `"${times('\\"', octets)}" <a@b.example>`],
  ['of quotes', (octets) => times('"\\"', octets)],
  ['of groups', (octets) => times('g:a@b.example;', octets)],
  ['of groups in groups', (octets) => times('g:', octets)],
  ['of brackets', (octets) => times('<', octets)],
  ['of addresses', (octets) => times('a@b.example,', octets)],
  ['of addresses on xn--', (octets) => times('a@xn--4ca0b.xn--4ca0b,', octets)],
  ['of commas', (octets) => times(',', octets)],
  ['of at signs', (octets) => times('@', octets)],
  ['of dots', (octets) => times('a.', octets)],
  ['of words', (octets) => times('a ', octets)],
  ['of blanks', (octets) => `a${times(' ', octets)}b`],
  ['of empty encoded words', (octets) => times('=?utf-8?Q??= ', octets)],
  ['of encoded words', (octets) => times('=?utf-8?B?PGFAYi5jPg==?= <a@b.example>,', octets)],
  ['of addresses in encoded words', (octets) => times('=?utf-8?B?PGFAYi5jPg==?=,', octets)],
  ['of comments within atoms', (octets) => `${times('a(b)', octets)}@b.example`],
]

/** What a text of a header can be made of. */
const TEXTS: readonly (readonly [what: string, text: (octets: number) => string])[] = [
  ['of empty encoded words', (octets) => times('=?utf-8?Q??= ', octets)],
  ['of encoded words of one letter', (octets) => times('=?iso-2022-jp?B?QQ==?=', octets)],
  ['of encoded words in many charsets', (octets) => times('=?gb18030?B?QQ==?= =?big5?Q?A?= =?koi8-r?Q?A?= ', octets)],
  ['of encoded words that do not end', (octets) => times('=?utf-8?Q?', octets)],
  ['of beginnings', (octets) => times('=?', octets)],
  ['of one encoded word', (octets) => `=?utf-8?Q?${times('=C3=9C', octets)}?=`],
  ['of question marks', (octets) => times('?', octets)],
  ['of blanks between encoded words', (octets) => `=?utf-8?Q?a?=${times(' ', octets)}=?utf-8?Q?a?=`],
]

const json = (value: unknown): string => JSON.stringify(value)
const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: Math.max(1, Math.floor(count)) }, (_, at) => make(at))

/** X-SMTPAPI, of so many octets. */
const INSTRUCTIONS: readonly (readonly [what: string, text: (octets: number) => string])[] = [
  ['nested deep', (octets) => `{"to":${times('[', octets)}`],
  ['of many keys', (octets) => json(Object.fromEntries(list(octets / 10, (at) => [`k${at}`, 1])))],
  ['of many recipients', (octets) => json({ to: list(Math.min(10_000, octets / 14), (at) => `r${at}@b.example`) })],
  [
    'of recipients with encoded names',
    (octets) => json({ to: list(Math.min(10_000, octets / 45), (at) => `=?utf-8?Q?=C3=9C?= <r${at}@b.example>`) }),
  ],
  ['of a recipient of many brackets', (octets) => json({ to: [`${times('<', octets)}>`] })],
  [
    'of many tags',
    (octets) => json({ sub: Object.fromEntries(list(Math.min(10_000, octets / 14), (at) => [`%${at}%`, ['v']])) }),
  ],
  [
    'of many sections',
    (octets) =>
      json({
        sub: { '%a%': ['%0%'] },
        section: Object.fromEntries(list(Math.min(10_000, octets / 14), (at) => [`%${at}%`, 'v'])),
      }),
  ],
  [
    'of tags for ten thousand recipients',
    () =>
      json({
        to: list(10_000, (at) => `r${at}@b.example`),
        sub: Object.fromEntries(list(16, (at) => [`%${at}%`, ['v']])),
      }),
  ],
  [
    'of more tags for ten thousand recipients',
    () =>
      json({
        to: list(10_000, (at) => `r${at}@b.example`),
        sub: Object.fromEntries(list(90, (at) => [`%${at}%`, ['v']])),
      }),
  ],
  ['of categories', (octets) => json({ category: list(octets / 4, () => 'c') })],
  [
    'of unique_args and many recipients',
    (octets) =>
      json({
        to: list(Math.min(10_000, octets / 20), (at) => `r${at}@b.example`),
        unique_args: { a: 'x'.repeat(2500) },
      }),
  ],
  [
    'of tags and many recipients',
    (octets) =>
      json({
        to: list(Math.min(10_000, octets / 20), (at) => `r${at}@b.example`),
        sub: { [`%${'t'.repeat(900)}%`]: ['v'] },
      }),
  ],
  [
    'in encoded words',
    (octets) =>
      `=?utf-8?B?${Buffer.from(json({ category: ['a'], x: 'y'.repeat(octets / 2) }))
        .toString('base64')
        .match(/.{1,40}/g)
        ?.join('?= =?utf-8?B?')}?=`,
  ],
  ['of quoted pairs', (octets) => `{"category":"${times('\\"', octets)}"}`],
  ['that is no JSON', (octets) => times('{"a":', octets)],
]

const multipart = (type = 'mixed', boundary = 'b', fields = ''): string =>
  `${fields}MIME-Version: 1.0\r\nContent-Type: multipart/${type}; boundary="${boundary}"\r\n`

/** Bodies, each with the fields of the header that it needs. */
const BODIES: readonly (readonly [what: string, make: (octets: number) => string])[] = [
  ['parts without number', (octets) => mail(multipart(), times('--b\r\n\r\n\r\n', octets))],
  [
    'parts in parts',
    (octets) =>
      mail(
        multipart(),
        list(
          octets / 70,
          (at) => `--${at === 0 ? 'b' : `b${at}`}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`,
        ).join(''),
      ),
  ],
  [
    'parts of one boundary in one another',
    (octets) => mail(multipart(), times('--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n', octets)),
  ],
  [
    'delimiters that nearly match',
    (octets) => mail(multipart('mixed', 'a'.repeat(69)), times(`--${'a'.repeat(68)}\r\n`, octets)),
  ],
  ['delimiters with blanks behind', (octets) => mail(multipart(), times(`--b${' '.repeat(900)}x\r\n`, octets))],
  ['letters of the boundary', (octets) => mail(multipart('mixed', 'a'.repeat(69)), times('a', octets))],
  ['dashes', (octets) => mail(multipart(), times('--\r\n', octets))],
  ['empty lines', (octets) => mail(multipart(), `--b\r\n\r\n${times('\r\n', octets)}`)],
  ['heads of 1 MB', (octets) => mail(multipart(), times(`--b\r\n${'a:\r\n'.repeat(250_000)}\r\nx\r\n`, octets))],
  ['heads of 16 kB', (octets) => mail(multipart(), times(`--b\r\n${'a:\r\n'.repeat(4000)}\r\nx\r\n`, octets))],
  ['a head without end', (octets) => mail(multipart(), `--b\r\n${times('Content-Type: a\r\n', octets)}`)],
  [
    'a head of folds',
    (octets) => mail(multipart(), `--b\r\nContent-Type: a\r\n${times(' a\r\n', Math.min(octets, 900_000))}\r\nx\r\n`),
  ],
  [
    'parameters in pieces',
    (octets) =>
      mail(
        multipart(),
        `--b\r\nContent-Disposition: attachment${list(Math.min(octets, 900_000) / 24, (at) => `;\r\n filename*${at}*=%41`).join('')}\r\n\r\nx\r\n--b--\r\n`,
      ),
  ],
  [
    'addresses in the head of a part',
    (octets) => mail(multipart(), `--b\r\nTo: ${times('(', Math.min(octets, 900_000))}\r\n\r\nx\r\n--b--\r\n`),
  ],
  [
    'blanks in base64',
    (octets) => mail('Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n', times('Y \r\n', octets)),
  ],
  [
    'base64',
    (octets) =>
      mail(
        'Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n',
        times(`${'QUJD'.repeat(19)}\r\n`, octets),
      ),
  ],
  [
    'quoted-printable',
    (octets) =>
      mail(
        'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n',
        times('=C3=9C', octets),
      ),
  ],
  [
    'soft line ends',
    (octets) =>
      mail('Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n', times('=\r\n', octets)),
  ],
  [
    'equals signs',
    (octets) => mail('Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n', times('=', octets)),
  ],
  ['flowed text', (octets) => mail('Content-Type: text/plain; format=flowed; delsp=yes\r\n', times('a \r\n', octets))],
  [
    'letters in a large charset',
    (octets) => mail('Content-Type: text/plain; charset=gb18030\r\n', times('\u0081\u0030\u0081\u0030', octets)),
  ],
  [
    'letters in an unknown charset',
    (octets) => mail('Content-Type: text/plain; charset=iso-2022-jp\r\n', times('a', octets)),
  ],
  ['markup', (octets) => mail('Content-Type: text/html\r\n', times('<a href="http://a.example/">', octets))],
  ['words that look like links', (octets) => mail('Content-Type: text/plain\r\n', times('xn--a.xn--a ', octets))],
  ['one line', (octets) => mail('', times('x', octets))],
  ['long lines', (octets) => mail('', times(`${'x '.repeat(500)}\r\n`, octets))],
  ['long lines of letters beyond ASCII', (octets) => mail('', times(`${'\u00e4='.repeat(500)}\r\n`, octets))],
  ['parts with long lines', (octets) => mail(multipart(), times(`--b\r\n\r\n${'x'.repeat(1000)}\r\n`, octets))],
  [
    'messages in messages with a long line',
    (octets) =>
      mail(
        multipart(),
        `--b\r\n${times('Content-Type: message/rfc822\r\n\r\n', 50 * 33)}${times('x', octets)}\r\n--b--\r\n`,
      ),
  ],
  [
    'a signature that matches long lines, almost',
    (octets) =>
      mail(
        times('DKIM-Signature: a=rsa-sha256; c=relaxed/relaxed; bh=AAAA; b=\r\n', 50 * 62),
        times(`${' \t'.repeat(500)}\r\n`, octets),
      ),
  ],
]

export const COSTLY: readonly Costly[] = [
  ...LISTS.map(
    ([what, text]): Costly => ({
      what: `From ${what}`,
      make: () => mail(''),
      from: (octets) => folded('From', text(octets)),
    }),
  ),
  ...LISTS.map(
    ([what, text]): Costly => ({
      what: `From of 500 octets ${what}`,
      make: () => mail(''),
      from: () => `From: ${text(500)}\r\n`,
    }),
  ),
  ...[TEMPLATE, API].flatMap((fields) =>
    LISTS.flatMap(([what, text]) =>
      ['To', 'Reply-To'].map(
        (name): Costly => ({
          what: `${name} ${what}, with ${fields.slice(0, 12)}`,
          make: (octets) => mail(fields + folded(name, text(octets))),
        }),
      ),
    ),
  ),
  ...[API].flatMap((fields) =>
    LISTS.map(
      ([what, text]): Costly => ({
        what: `To of 100 kB ${what}, with X-SMTPAPI`,
        make: (octets) => mail(fields + folded('To', text(octets / 5))),
      }),
    ),
  ),
  ...TEXTS.flatMap(([what, text]) =>
    ['Subject', 'X-APIHEADER', 'X-TAGS', 'X-SETTINGS', 'X-ATTRIBUTES', 'X-SMTPAPI', 'X-Own'].map(
      (name): Costly => ({
        what: `${name} ${what}`,
        make: (octets) => mail((name === 'X-Own' ? API : '') + folded(name, text(octets))),
      }),
    ),
  ),
  { what: 'X-TAGS of commas', make: (octets) => mail(`X-TAGS: ${times(',', octets)}\r\n`) },
  { what: 'X-TAGS of tags', make: (octets) => mail(folded('X-TAGS', times('a,', octets))) },
  { what: 'X-APIHEADER of semicolons', make: (octets) => mail(folded('X-APIHEADER', times('; ', octets))) },
  { what: 'X-APIHEADER of quotes', make: (octets) => mail(folded('X-APIHEADER', times('"', octets))) },
  {
    what: 'X-SETTINGS of many copies',
    make: (octets) => mail(`X-SETTINGS: ${json({ bcc: list(octets / 20, (at) => `a${at}@b.example`) })}\r\n`),
  },
  { what: 'X-ATTRIBUTES nested deep', make: (octets) => mail(`X-ATTRIBUTES: ${times('[', octets)}\r\n`) },
  {
    what: 'X-ATTRIBUTES of many keys',
    make: (octets) => mail(`X-ATTRIBUTES: ${json(Object.fromEntries(list(octets / 10, (at) => [`k${at}`, 1])))}\r\n`),
  },
  {
    what: 'X-ATTRIBUTES of many keys for many recipients, with X-TEMPLATEID',
    recipients: 1000,
    make: (octets) =>
      mail(`${TEMPLATE}X-ATTRIBUTES: ${json(Object.fromEntries(list(octets / 12, (at) => [`k${at}`, 1])))}\r\n`),
  },
  {
    what: 'X-ATTRIBUTES of 160 values for many recipients, with X-TEMPLATEID',
    recipients: 1000,
    make: () => mail(`${TEMPLATE}X-ATTRIBUTES: ${json(Object.fromEntries(list(160, (at) => [`k${at}`, 1])))}\r\n`),
  },
  {
    what: 'fields of its own for ten thousand recipients, with X-SMTPAPI',
    make: (octets) =>
      mail(
        `X-SMTPAPI: ${json({ to: list(Math.min(10_000, octets / 20), (at) => `r${at}@b.example`), sub: { '%n%': ['Lena'] } })}\r\n${list(30, (at) => folded(`X-Own-${at}`, 'x'.repeat(3900))).join('')}`,
      ),
  },
  { what: 'many fields', make: (octets) => mail(times('a:\r\n', octets)) },
  {
    what: 'as many fields as there may be',
    make: (octets) => mail(times(`x-${'a'.repeat(38)}: b\r\n`, Math.min(octets, 440_000))),
  },
  { what: 'many fields, with X-SMTPAPI', make: (octets) => mail(API + times('a:\r\n', octets)) },
  {
    what: 'many different fields, with X-SMTPAPI',
    make: (octets) => mail(API + list(octets / 10, (at) => `x${at}:y\r\n`).join('')),
  },
  { what: 'fields of 100 kB, with X-TEMPLATEID', make: (octets) => mail(TEMPLATE + times('a:\r\n', octets / 5)) },
  { what: 'many folds', make: (octets) => mail(`X-A: a\r\n${times(' \r\n', octets)}`) },
  { what: 'fields with a blank behind the name', make: (octets) => mail(times('a :\r\n', octets)) },
  { what: 'doubled fields', make: (octets) => mail(times('Date:\r\n', octets)) },
  {
    what: 'a long list, doubled by short ones',
    make: (octets) => mail(folded('To', times('a@b.example,', octets)) + 'To: a@b.example\r\n'.repeat(10)),
  },
  ...['X-A', 'References', 'Subject'].flatMap((name): Costly[] => [
    { what: `a line of words in ${name}`, make: (octets) => mail(`${name}: ${times('a ', octets)}\r\n`) },
    { what: `a line of one word in ${name}`, make: (octets) => mail(`${name}: ${times('a', octets)}\r\n`) },
    { what: `long lines in ${name}`, make: (octets) => mail(times(`${name}: ${'a '.repeat(500)}\r\n`, octets)) },
  ]),
  { what: 'words of 32 kB', make: (octets) => mail(times(`X-A: ${'a'.repeat(32_000)}\r\n`, octets)) },
  { what: 'lines that are no fields', make: (octets) => mail(times('a\r\n', octets)) },
  { what: 'one name of a field', make: (octets) => mail(`${times('a', octets)}\r\n`) },
  { what: 'blanks before a colon', make: (octets) => mail(`a${times(' ', octets)}\r\n`) },
  {
    what: 'Message-ID of many letters, with X-SMTPAPI',
    make: (octets) => mail(`${API}Message-ID: <${times('a', octets)}@\r\n`),
  },
  { what: 'a header of 29 MB', most: WHOLE, make: (octets) => times('a:\r\n', octets) },
  { what: 'a header of 29 MB in folds', most: WHOLE, make: (octets) => `X-A: a\r\n${times(' a\r\n', octets)}` },
  ...INSTRUCTIONS.map(
    ([what, text]): Costly => ({
      what: `X-SMTPAPI ${what}`,
      make: (octets) => mail(folded('X-SMTPAPI', text(octets))),
    }),
  ),
  ...BODIES.flatMap(([what, make]) =>
    (['', TEMPLATE, API, KEYED] as const).map(
      (fields): Costly => ({
        what: `a body of ${what}${fields === '' ? '' : `, with ${fields.slice(0, fields.indexOf(':'))}`}`,
        most: WHOLE,
        make: (octets) => fields + make(octets),
      }),
    ),
  ),
  {
    what: 'a body of delimiters, with Idempotency-Key',
    most: WHOLE,
    make: (octets) => `${KEYED}${mail(multipart(), times('--b\r\n\r\n', octets))}`,
  },
]

export function sizeOf({ most = HEAD }: Costly): number {
  return most
}
