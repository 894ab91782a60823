import t from 'tap'
import { startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)

const LATIN = Buffer.from('F\xe4hre nach K\xf6ln', 'latin1')
const UTF_8 = Buffer.from('Fähre nach Köln')
const [ESCAPE, SHIFT] = ['\x1b$B', '\x1b(B']
/** こんにちは */
const ISO_2022_JP = Buffer.from(`${ESCAPE}$3$s$K$A$O${SHIFT}`, 'latin1')
const SHIFT_JIS = Buffer.from('82b182f182c982bf82cd', 'hex')
const EUC_JP = Buffer.from('a4b3a4f3a4cba4c1a4cf', 'hex')
const JAPANESE = 'こんにちは'
/** 你好 */
const HZ = Buffer.from('say ~{Dc:C~} ~~ and ~\r\nmore', 'latin1')
const GBK = Buffer.from('c4e3bac3', 'hex')
const BIG5 = Buffer.from('a741a66e', 'hex')
/** 안녕 */
const EUC_KR = Buffer.from('bec8b3e7', 'hex')

const octets = (...pieces: (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)))

const FIELDS = 'From: desk@ship.example\r\nTo: lena@harbor.example\r\nMIME-Version: 1.0\r\n'

/** A text with this content type, or without one. */
function text(type: string | undefined, content: Buffer | string, encoding = '8bit'): Buffer {
  const body = typeof content === 'string' ? Buffer.from(content) : content
  const written = encoding === 'base64' ? body.toString('base64') : body
  return octets(
    FIELDS,
    type === undefined ? '' : `Content-Type: ${type}\r\n`,
    `Subject: s\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`,
    written,
    '\r\n',
  )
}

/** A message with these header fields. */
const header = (...fields: (string | Buffer)[]): Buffer => octets(FIELDS, ...fields, '\r\n\r\nhello\r\n')

/** A file whose name is given by these parameters. */
function file(disposition: string | Buffer, type: string | Buffer = 'application/pdf'): Buffer {
  return octets(
    FIELDS,
    'Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b\r\nContent-Type: ',
    type,
    '\r\nContent-Disposition: attachment',
    disposition,
    '\r\n\r\nfile\r\n--b--\r\n',
  )
}

function parts(boundary: string, ...lines: string[]): Buffer {
  return octets(
    FIELDS,
    `Subject: s\r\nContent-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n`,
    lines.join('\r\n'),
  )
}

const PLAIN = 'Content-Type: text/plain\r\n\r\nfirst'
const HTML = 'Content-Type: text/html\r\n\r\n<p>second</p>'

interface Shown {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  readonly headers: readonly { name: string; value: string }[]
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

type Read = (shown: Shown) => unknown

const itsText: Read = ({ text }) => text?.trimEnd()
const itsHtml: Read = ({ html }) => html?.trim()
const both: Read = ({ text, html }) => [text?.trim(), html?.trim()]
const itsSubject: Read = ({ subject }) => subject
const itsFiles: Read = ({ attachments }) => attachments.map(({ fileName }) => fileName)

const meta = (charset: string): Buffer =>
  octets(`<html><head><meta http-equiv="Content-Type" content="text/html; charset=${charset}"></head><body>`)

/** Inputs of the kinds that mail programs read well, and what they show. */
const ROWS: readonly (readonly [what: string, message: Buffer, read: Read, found: unknown])[] = [
  ['UTF-8 without a type', text(undefined, UTF_8), itsText, 'Fähre nach Köln'],
  ['Latin-1 without a type', text(undefined, LATIN), itsText, 'Fähre nach Köln'],
  ['UTF-8 without a charset', text('text/plain', UTF_8), itsText, 'Fähre nach Köln'],
  ['Latin-1 without a charset', text('text/plain', LATIN), itsText, 'Fähre nach Köln'],
  ['Latin-1 without a charset, in base64', text('text/plain', LATIN, 'base64'), itsText, 'Fähre nach Köln'],
  [
    'Latin-1 without a charset, in quoted-printable',
    text('text/plain', 'F=E4hre', 'quoted-printable'),
    itsText,
    'Fähre',
  ],
  [
    'flowed Latin-1 without a charset',
    text('text/plain; format=flowed', octets('F\xe4hre \r\nnach')),
    itsText,
    'Fähre nach',
  ],
  ['Latin-1 declared as US-ASCII', text('text/plain; charset=us-ascii', LATIN), itsText, 'Fähre nach Köln'],
  ['UTF-8 declared as US-ASCII', text('text/plain; charset=us-ascii', UTF_8), itsText, 'Fähre nach Köln'],
  ['Latin-1 declared as UTF-8', text('text/plain; charset=utf-8', LATIN), itsText, 'Fähre nach Köln'],
  [
    'windows-1252 declared as ISO 8859-1',
    text('text/plain; charset=iso-8859-1', octets('\x93F\xe4hre\x94 \x80 5')),
    itsText,
    '“Fähre” € 5',
  ],
  ...['unknown-8bit', 'x-unknown', 'ansi', '%charset%', 'x-user-defined'].flatMap((name) => [
    [
      `Latin-1 in the charset ${name}`,
      text(`text/plain; charset="${name}"`, LATIN),
      itsText,
      'Fähre nach Köln',
    ] as const,
    [`UTF-8 in the charset ${name}`, text(`text/plain; charset="${name}"`, UTF_8), itsText, 'Fähre nach Köln'] as const,
  ]),
  ...["'utf-8'", 'utf8mb4', 'utf-8 (comment)', '"utf-8;"', 'UTF8', 'utf_8', 'unicode-1-1-utf-8', 'utf-8,'].map(
    (name) => [`the charset ${name}`, text(`text/plain; charset=${name}`, UTF_8), itsText, 'Fähre nach Köln'] as const,
  ),
  ...["'iso-8859-1'", 'latin1', 'ISO_8859-1', 'iso8859-1', 'cp1252', 'win-1252', '"iso-8859-1 "', 'l1'].map(
    (name) => [`the charset ${name}`, text(`text/plain; charset=${name}`, LATIN), itsText, 'Fähre nach Köln'] as const,
  ),
  ...['cp850', 'cp-850', 'ibm850'].map(
    (name) =>
      [`the charset ${name}`, text(`text/plain; charset=${name}`, octets('F\x84hre')), itsText, 'Fähre'] as const,
  ),
  ['UTF-7', text('text/plain; charset=utf-7', 'F+AOQ-hre'), itsText, 'Fähre'],
  ['UTF-8 with a byte order mark', text('text/plain; charset=utf-8', '\ufeffFähre'), itsText, 'Fähre'],
  ['UTF-8 with a byte order mark, without a charset', text('text/plain', '\ufeffFähre'), itsText, 'Fähre'],
  [
    'UTF-8 with a byte order mark, declared as Latin-1',
    text('text/plain; charset=iso-8859-1', '\ufeffFähre'),
    itsText,
    'Fähre',
  ],
  ...(['utf-16', 'utf-16le', 'UTF-16LE', 'unicode', 'ucs-2'] as const).map(
    (name) =>
      [
        `little-endian UTF-16 as ${name}, without a mark`,
        text(`text/plain; charset=${name}`, Buffer.from('Fähre', 'utf16le'), 'base64'),
        itsText,
        'Fähre',
      ] as const,
  ),
  ...(['utf-16', 'utf-16le'] as const).map(
    (name) =>
      [
        `little-endian UTF-16 as ${name}, with a mark`,
        text(`text/plain; charset=${name}`, Buffer.from('\ufeffFähre', 'utf16le'), 'base64'),
        itsText,
        'Fähre',
      ] as const,
  ),
  ...(['utf-16', 'utf-16be'] as const).flatMap((name) =>
    (name === 'utf-16' ? ['\ufeffFähre'] : ['Fähre', '\ufeffFähre']).map(
      (content) =>
        [
          `big-endian UTF-16 as ${name}${content.length > 5 ? ', with a mark' : ''}`,
          text(`text/plain; charset=${name}`, Buffer.from(content, 'utf16le').swap16(), 'base64'),
          itsText,
          'Fähre',
        ] as const,
    ),
  ),
  [
    'UTF-16 with a mark, without a charset',
    text('text/plain', Buffer.from('\ufeffFähre', 'utf16le'), 'base64'),
    itsText,
    'Fähre',
  ],
  ['ISO-2022-JP', text('text/plain; charset=iso-2022-jp', ISO_2022_JP), itsText, JAPANESE],
  ['ISO-2022-JP without a charset', text('text/plain', ISO_2022_JP), itsText, JAPANESE],
  ['ISO-2022-JP without a type', text(undefined, ISO_2022_JP), itsText, JAPANESE],
  ['ISO-2022-JP declared as US-ASCII', text('text/plain; charset=us-ascii', ISO_2022_JP), itsText, JAPANESE],
  ...['iso-2022-jp-ms', 'csISO2022JP', 'iso2022jp', 'ISO-2022-JP-2'].map(
    (name) => [`ISO-2022-JP as ${name}`, text(`text/plain; charset=${name}`, ISO_2022_JP), itsText, JAPANESE] as const,
  ),
  ...['shift_jis', 'x-sjis', 'ms_kanji', 'cp932', 'windows-31j', 'Shift-JIS', 'sjis'].map(
    (name) => [`Shift_JIS as ${name}`, text(`text/plain; charset=${name}`, SHIFT_JIS), itsText, JAPANESE] as const,
  ),
  ...['euc-jp', 'eucjp', 'x-euc-jp', 'cp51932'].map(
    (name) => [`EUC-JP as ${name}`, text(`text/plain; charset=${name}`, EUC_JP), itsText, JAPANESE] as const,
  ),
  ...['gb2312', 'gbk', 'gb18030', 'cp936', 'x-gbk', 'gb_2312-80', 'ms936', 'euc-cn'].map(
    (name) => [`GBK as ${name}`, text(`text/plain; charset=${name}`, GBK), itsText, '你好'] as const,
  ),
  ['hz-gb-2312', text('text/plain; charset=hz-gb-2312', HZ), itsText, 'say 你好 ~ and more'],
  ['hz-gb-2312 in HTML', text('text/html; charset=HZ-GB-2312', '<p>~{Dc:C~}</p>'), itsHtml, '<p>你好</p>'],
  ...['big5', 'big5-hkscs', 'cp950', 'x-x-big5', 'cn-big5'].map(
    (name) => [`Big5 as ${name}`, text(`text/plain; charset=${name}`, BIG5), itsText, '你好'] as const,
  ),
  ...['euc-kr', 'ks_c_5601-1987', 'cp949', 'korean', 'ksc5601'].map(
    (name) => [`EUC-KR as ${name}`, text(`text/plain; charset=${name}`, EUC_KR), itsText, '안녕'] as const,
  ),
  ['KOI8-R', text('text/plain; charset=koi8-r', octets('\xd0\xd2\xc9\xd7\xc5\xd4')), itsText, 'привет'],
  [
    'Latin-1 HTML whose charset is only in meta http-equiv',
    text('text/html', octets(meta('iso-8859-1'), LATIN)),
    itsHtml,
    `${meta('iso-8859-1')}Fähre nach Köln`,
  ],
  [
    'KOI8-R HTML whose charset is only in meta http-equiv',
    text('text/html', octets(meta('koi8-r'), '\xd0\xd2\xc9\xd7\xc5\xd4')),
    itsHtml,
    `${meta('koi8-r')}привет`,
  ],
  [
    'Shift_JIS HTML whose charset is only in meta charset',
    text('text/html', octets('<meta charset=shift_jis>', SHIFT_JIS)),
    itsHtml,
    `<meta charset=shift_jis>${JAPANESE}`,
  ],
  [
    'UTF-8 HTML whose meta says Latin-1',
    text('text/html', octets(meta('iso-8859-1'), UTF_8)),
    itsHtml,
    `${meta('iso-8859-1')}Fähre nach Köln`,
  ],
  [
    'HTML with a charset and another one in its meta',
    text('text/html; charset=utf-8', octets(meta('koi8-r'), UTF_8)),
    itsHtml,
    `${meta('koi8-r')}Fähre nach Köln`,
  ],

  ['a Subject in raw UTF-8', header(octets('Subject: ', UTF_8)), itsSubject, 'Fähre nach Köln'],
  ['a Subject in raw Latin-1', header(octets('Subject: ', LATIN)), itsSubject, 'Fähre nach Köln'],
  ['a Subject in raw ISO-2022-JP', header(octets('Subject: ', ISO_2022_JP)), itsSubject, JAPANESE],
  [
    'a Subject in raw ISO-2022-JP in two lines',
    header(octets('Subject: ', ISO_2022_JP, '\r\n ', ISO_2022_JP)),
    itsSubject,
    `${JAPANESE} ${JAPANESE}`,
  ],
  [
    'a Subject in the charset of the text',
    header(octets('Content-Type: text/plain; charset=koi8-r\r\nSubject: \xd0\xd2\xc9\xd7\xc5\xd4')),
    itsSubject,
    'привет',
  ],
  [
    'a folded Subject in raw Latin-1',
    header(octets('Subject: F\xe4hre\r\n nach K\xf6ln')),
    itsSubject,
    'Fähre nach Köln',
  ],
  [
    'encoded words',
    header('Subject: =?iso-8859-1?Q?F=E4hre?= =?utf-8?B?IG5hY2ggS8O2bG4=?='),
    itsSubject,
    'Fähre nach Köln',
  ],
  [
    'base64 words that share a character',
    header('Subject: =?utf-8?B?RsM=?= =?utf-8?B?pGhyZQ==?='),
    itsSubject,
    'Fähre',
  ],
  [
    'quoted words that share a character',
    header('Subject: =?utf-8?Q?F=C3?=\r\n =?utf-8?Q?=A4hre?='),
    itsSubject,
    'Fähre',
  ],
  [
    'words of both kinds that share a character',
    header('Subject: =?utf-8?Q?F=C3?= =?utf-8?B?pGhyZQ==?='),
    itsSubject,
    'Fähre',
  ],
  [
    'Shift_JIS words that share a character',
    header('Subject: =?shift_jis?B?grGC?= =?shift_jis?B?8YLJgr+CzQ==?='),
    itsSubject,
    JAPANESE,
  ],
  ...['x-unknown', 'unknown-8bit', 'ansi', 'us-ascii'].map(
    (name) => [`a word of the charset ${name}`, header(`Subject: =?${name}?Q?F=E4hre?=`), itsSubject, 'Fähre'] as const,
  ),
  ['a word of UTF-8 with Latin-1', header('Subject: =?utf-8?Q?F=E4hre?='), itsSubject, 'Fähre'],
  ['a word of the charset utf8mb4', header('Subject: =?utf8mb4?Q?F=C3=A4hre?='), itsSubject, 'Fähre'],
  ['a word of hz-gb-2312', header('Subject: =?hz-gb-2312?B?fntEYzpDfn0=?='), itsSubject, '你好'],
  ['a word of a language', header('Subject: =?iso-8859-1*de?Q?F=E4hre?='), itsSubject, 'Fähre'],
  ['a word of cp850', header('Subject: =?cp850?Q?F=84hre?='), itsSubject, 'Fähre'],
  ['a word with blanks', header('Subject: =?utf-8?Q?F=C3=A4hre nach?='), itsSubject, 'Fähre nach'],
  [
    'a raw name beside a word',
    header(octets('Subject: =?utf-8?Q?F=C3=A4hre?= nach K\xf6ln')),
    itsSubject,
    'Fähre nach Köln',
  ],

  ['a name by RFC 2231', file("; filename*=utf-8''F%C3%A4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 in Latin-1', file("; filename*=iso-8859-1'de'F%E4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 in Shift_JIS', file("; filename*=shift_jis''%82%B1%82%F1.pdf"), itsFiles, ['こん.pdf']],
  [
    'a name by RFC 2231 in ISO-2022-JP',
    file("; filename*=iso-2022-jp''%1B%24B%243%24s%1B%28B.pdf"),
    itsFiles,
    ['こん.pdf'],
  ],
  ['a name by RFC 2231 in an unknown charset', file("; filename*=x-unknown''F%E4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 without a charset', file("; filename*=''F%C3%A4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a Latin-1 name by RFC 2231 without a charset', file("; filename*=''F%E4hre.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name by RFC 2231 without its quotes', file('; filename*=F%C3%A4hre.pdf'), itsFiles, ['Fähre.pdf']],
  ['a quoted name by RFC 2231', file('; filename*="utf-8\'\'F%C3%A4hre.pdf"'), itsFiles, ['Fähre.pdf']],
  ['a name in pieces', file("; filename*0*=utf-8''F%C3; filename*1*=%A4hre; filename*2=.pdf"), itsFiles, ['Fähre.pdf']],
  ['a name in plain pieces', file('; filename*0="Berth "; filename*1="4.pdf"'), itsFiles, ['Berth 4.pdf']],
  ['a name both ways', file('; filename="F?hre.pdf"; filename*=utf-8\'\'F%C3%A4hre.pdf'), itsFiles, ['Fähre.pdf']],
  ['a name in a word', file('; filename="=?utf-8?B?RsOkaHJlLnBkZg==?="'), itsFiles, ['Fähre.pdf']],
  ['a name in a word of an unknown charset', file('; filename="=?x-unknown?Q?F=E4hre.pdf?="'), itsFiles, ['Fähre.pdf']],
  ['a name in words', file('; filename="=?utf-8?B?RsM=?=\r\n =?utf-8?B?pGhyZS5wZGY=?="'), itsFiles, ['Fähre.pdf']],
  ['a name in raw UTF-8', file(octets('; filename="', Buffer.from('Fähre'), '.pdf"')), itsFiles, ['Fähre.pdf']],
  ['a name in raw Latin-1', file(octets('; filename="F\xe4hre.pdf"')), itsFiles, ['Fähre.pdf']],
  ['a name in raw ISO-2022-JP', file(octets('; filename="', ISO_2022_JP, '.pdf"')), itsFiles, [`${JAPANESE}.pdf`]],
  ['a name of the type only', file('', octets('application/pdf; name="F\xe4hre.pdf"')), itsFiles, ['Fähre.pdf']],
  ['a name with percent signs', file('; filename="100%25.pdf"'), itsFiles, ['100%25.pdf']],

  [
    'blanks behind a boundary',
    parts('b', '--b  ', PLAIN, '--b ', HTML, '--b-- ', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  [
    'tabs behind a boundary',
    parts('b', '--b\t', PLAIN, '--b\t \t', HTML, '--b--\t', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  [
    'many blanks behind a boundary',
    parts('b', `--b${' '.repeat(500)}`, PLAIN, '--b', HTML, '--b--', ''),
    both,
    ['first', '<p>second</p>'],
  ],
  ['a boundary without its end', parts('b', '--b', PLAIN, '--b', HTML, ''), both, ['first', '<p>second</p>']],
  [
    'blanks behind an inner boundary',
    parts(
      'b',
      '--b ',
      'Content-Type: multipart/alternative; boundary=c',
      '',
      '--c ',
      PLAIN,
      '--c ',
      HTML,
      '--c-- ',
      '--b-- ',
      '',
    ),
    both,
    ['first', '<p>second</p>'],
  ],
  [
    'a part that only begins like a boundary',
    parts('b', '--b', 'Content-Type: text/plain', '', 'first', '--bc', '--b', HTML, '--b--', ''),
    both,
    ['first\n--bc', '<p>second</p>'],
  ],
  [
    'quoted-printable with a comment',
    text('text/plain; charset=utf-8', 'F=C3=A4hre', 'quoted-printable (comment)'),
    itsText,
    'Fähre',
  ],
  ['quoted_printable', text('text/plain; charset=utf-8', 'F=C3=A4hre', 'quoted_printable'), itsText, 'Fähre'],
  [
    '"base64" in quotes',
    text('text/plain; charset=utf-8', UTF_8.toString('base64'), '"base64"'),
    itsText,
    'Fähre nach Köln',
  ],
]

for (const [what, message, read, found] of ROWS) {
  t.test(`${what} is shown as mail programs show it`, async (t) => {
    const entry = await sandbox.store(t, message)
    const shown = (await (await fetch(`${sandbox.url}/messages/${entry.id}`)).json()) as Shown
    t.strictSame(read(shown), found)
  })
}
