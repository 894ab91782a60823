import { simpleParser } from 'mailparser'
import t, { type Test } from 'tap'
import {
  fileNameParameter,
  mailboxField,
  ownField,
  rawField,
  textField,
} from '../../../packages/core/src/mime/header.ts'
import { naughtyStrings, skipWithoutThem } from '../naughty-strings.ts'

/** Texts of every kind: what is written must be what is read. */
const TEXTS: readonly string[] = [
  'Berth 4',
  'x',
  'a  b   c',
  'Your berth, number 4, is ready from nine: bring "papers" (all) <of> them; thanks',
  'w'.repeat(75),
  'w'.repeat(2000),
  'word '.repeat(100).trim(),
  `${'w'.repeat(70)} ${'x'.repeat(70)} ${'y'.repeat(900)}`,
  '=?utf-8?Q?not=20encoded?=',
  '=?utf-8?B?Qmxpbmc=?= and more',
  '=?',
  '?=',
  '[%NAME%]',
  'Gr\u00fc\u00dfe aus K\u00f6ln',
  '\u00fc',
  '\u6e2f\u306e\u6848\u5185 '.repeat(40).trim(),
  '\ud83d\udea2'.repeat(100),
  `a\u0301${'e\u0301'.repeat(60)}`,
  'tab\tin between',
  'back\\slash "quote"',
  "it's 100 %",
  'evil=0D=0ABcc: x@evil.example',
  '\u2028line separator\u2029',
  'next\u0085line',
  'esc\u001b[31m',
  '.',
  '..',
  'From here',
  ', ; : ( ) < > @ [ ]',
]

/** Lines are at most 76 characters where words allow it, and never over 998 (RFC 5322 2.1.1). */
function wellFormed(t: Test, field: string): void {
  t.match(field, /\r\n$/)
  const lines = field.slice(0, -2).split('\r\n')
  for (const [at, line] of lines.entries()) {
    if (/[\r\n\0]|[^\x20-\x7e]/.test(line)) t.fail(`a line is not printable ASCII: ${JSON.stringify(line)}`)
    if (line.length > 998) t.fail(`a line has ${line.length} characters`)
    if (line.length > 78 && line.trim().split(' ').length > 1 + (at === 0 ? 1 : 0)) t.fail(`not folded: ${line}`)
    if (at > 0 && !/^ *[^ ]/.test(line)) t.fail('a line of blanks alone (RFC 5322 3.2.2)')
    if (at > 0 && !line.startsWith(' ')) t.fail('a continuation line begins with a blank')
  }
  for (const word of field.match(/=\?[^?\s]+\?[BQ]\?[^?\s]*\?=/gi) ?? []) {
    if (word.length > 75) t.fail(`an encoded word of ${word.length} characters (RFC 2047 2)`)
    const octets = Buffer.from(word.split('?')[3] ?? '', 'base64')
    if (!octets.equals(Buffer.from(octets.toString()))) t.fail('an encoded word ends inside a character (RFC 2047 5)')
  }
}

async function readSubject(field: string): Promise<string | undefined> {
  return (await simpleParser(`${field}X-After: here\r\n\r\n`)).subject
}

for (const text of TEXTS) {
  const shown = ascii(text.slice(0, 50))
  t.test(`the subject ${shown} is read as it was written`, async (t) => {
    const field = textField('Subject', text)
    wellFormed(t, field)
    t.equal(await readSubject(field), text)
  })

  t.test(`the sender's name ${shown} is read as it was written`, async (t) => {
    const field = mailboxField('From', [{ name: text, address: 'desk@ship.example' }])
    wellFormed(t, field)
    const { from } = await simpleParser(`${field}\r\n`)
    t.strictSame(from?.value, [{ name: text, address: 'desk@ship.example' }])
  })

  // The parser decodes what looks like an encoded word even where RFC 2231 says that there is none.
  if (text.includes('=?')) continue
  t.test(`the file name ${shown} is read as it was written`, async (t) => {
    t.equal(await readFileName(t, text), text)
  })
}

/** The test reader takes some characters for line ends. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

async function readFileName(t: Test, name: string): Promise<string | undefined> {
  const head =
    `Content-Type: application/octet-stream;\r\n ${fileNameParameter('name', name)}\r\n` +
    `Content-Disposition: attachment;\r\n ${fileNameParameter('filename', name)}\r\n`
  for (const line of head.trimEnd().split('\r\n')) {
    if (!/^[\x20-\x7e]{1,998}$/.test(line)) t.fail(`a bad line: ${line.slice(0, 100)}`)
    if (/^ /.test(line) && line.length > 78 && !/^ (?:file)?name="(?!=\?)[^"]*"$/.test(line))
      t.fail(`a long line: ${line}`)
  }
  return (await simpleParser(`${head}\r\nx`)).attachments[0]?.filename
}

t.test(
  'file names of ASCII are quoted; others are by RFC 2231 and as encoded words, and no character is split',
  async (t) => {
    for (const name of ['plan.pdf', 'plan (final), v2; 100%.pdf', "it's.pdf", `${'long '.repeat(40)}.pdf`]) {
      t.equal(fileNameParameter('filename', name), `filename="${name}"`)
      t.equal(fileNameParameter('name', name), `name="${name}"`)
    }
    t.equal(fileNameParameter('filename', 'Übersicht.pdf'), "filename*=utf-8''%C3%9Cbersicht.pdf")
    t.equal(
      fileNameParameter('name', 'Übersicht.pdf'),
      `name="=?utf-8?B?${Buffer.from('Übersicht.pdf').toString('base64')}?="`,
    )
    for (const name of ['a"b.pdf', 'a\\b.pdf']) t.match(fileNameParameter('filename', name), /^filename\*=utf-8''a%/)
    const pieces = fileNameParameter('filename', `${'船'.repeat(40)}𝔟.pdf`).split(';\r\n ')
    t.ok(pieces.length > 5)
    for (const [at, piece] of pieces.entries()) {
      const [, octets = ''] = /^filename\*\d+\*=(?:utf-8'')?(.*)$/.exec(piece) ?? []
      t.ok(decodeURIComponent(octets).length > 0, `${at}: ${octets}`)
    }
  },
)

t.test('naughty strings survive as subject, name and file name', skipWithoutThem, async (t) => {
  let count = 0
  for (const text of naughtyStrings) {
    // Refused at the door: line breaks, NUL and lone surrogates. Blank at the ends is not kept by readers.
    if (/[\r\n\0]/.test(text) || !text.isWellFormed() || text.trim() === '') continue
    const whole = text.trim()
    const subject = textField('Subject', whole)
    const from = mailboxField('From', [{ name: whole, address: 'desk@ship.example' }])
    wellFormed(t, subject)
    wellFormed(t, from)
    const read = await simpleParser(`${subject}${from}X-After: here\r\n\r\n`)
    if (read.subject !== whole) t.equal(read.subject, whole, 'subject')
    if (read.from?.value[0]?.name !== whole) t.equal(read.from?.value[0]?.name, whole, 'name')
    if (read.from?.value.length !== 1) t.equal(read.from?.value.length, 1, JSON.stringify(whole))
    if (!/\p{Cc}/u.test(whole)) {
      const fileName = await readFileName(t, whole)
      if (fileName !== whole && !whole.includes('=?')) t.equal(fileName, whole, 'file name')
    }
    count++
  }
  t.ok(count > 450, `${count} strings`)
})

t.test('addresses in a header are read as they are, quoted ones too, one a line when there are several', async (t) => {
  const addresses = [
    'lena@harbor.example',
    '"le na"@harbor.example',
    '"a@b"@harbor.example',
    'l\u00e9na@harbor.example',
  ]
  const field = mailboxField(
    'To',
    addresses.map((address) => ({ name: '', address })),
  )
  t.equal(field.split('\r\n').length, addresses.length + 1)
  const { to } = await simpleParser(`${field}\r\n`)
  const read = [to ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address))
  t.strictSame(
    read.map((address) => address?.replaceAll('"', '')),
    addresses.map((address) => address.replaceAll('"', '')),
  )
})

t.test('a header value with CR, LF or NUL never becomes a line of its own', async (t) => {
  for (const evil of [
    'a\r\nBcc: x@evil.example',
    'a\nBcc: x@evil.example',
    'a\rBcc: x@evil.example',
    'a\0b',
    'a\r\n Bcc: x',
  ]) {
    const { headers } = await simpleParser(
      `${textField('Subject', evil)}${mailboxField('From', [{ name: evil, address: 'desk@ship.example' }])}\r\n`,
    )
    t.notOk(headers.has('bcc'))
    t.throws(
      () => mailboxField('To', [{ name: '', address: `x@${evil.replace('\r\n ', '\r\n')}` }]),
      /contains CR, LF or NUL/,
    )
  }
  t.throws(() => rawField('Date', 'today\r\nBcc: x@evil.example'), /contains CR, LF or NUL/)
})

t.test('a long field name leaves room for the encoded words that follow', async (t) => {
  const name = `X-${'Long'.repeat(18)}`
  const field = textField(name, '\u00fcber '.repeat(40).trim())
  wellFormed(t, field.replace(`${name}: `, 'X: '))
  t.ok(field.split('\r\n').every((line) => line.length <= 100))
})

t.test('what a submission has in angle brackets is never part of an encoded word', async (t) => {
  for (const [name, value, field] of [
    ['List-Id', 'Gr\u00f6\u00dfe <list.example.org>', 'List-Id: =?utf-8?B?R3LDtsOfZQ==?= <list.example.org>'],
    ['list-unsubscribe', '<https://ex.com/u?q==?x>', 'list-unsubscribe: <https://ex.com/u?q==?x>'],
    [
      'List-Unsubscribe',
      '<mailto:a@x.example>, <https://ex.com/u>',
      'List-Unsubscribe: <mailto:a@x.example>, <https://ex.com/u>',
    ],
    [
      'Disposition-Notification-To',
      'J\u00f6rg <j@x.example>',
      'Disposition-Notification-To: =?utf-8?B?SsO2cmc=?= <j@x.example>',
    ],
    ['List-Unsubscribe', 'leave =? <https://ex.com/u>', 'List-Unsubscribe: leave =? <https://ex.com/u>'],
    ['References', '<a@x.example> <b@x.example>', 'References: <a@x.example> <b@x.example>'],
    ['X-Note', 'Gr\u00f6\u00dfe <4>', 'X-Note: =?utf-8?B?R3LDtsOfZSA8ND4=?='],
    ['List-Id', 'without', 'List-Id: without'],
  ] as const)
    t.equal(ownField(name, value), `${field}\r\n`)
  const many = ownField('References', Array.from({ length: 40 }, (_, at) => `<${at}@x.example>`).join(' '))
  t.ok(many.split('\r\n').every((line) => line.length <= 78))
})
