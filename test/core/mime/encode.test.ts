import { simpleParser } from 'mailparser'
import t, { type Test } from 'tap'
import { base64Lines, type EncodedText, encodeText, withCrlf } from '../../../packages/core/src/mime/encode.ts'
import { naughtyStrings, skipWithoutThem } from '../naughty-strings.ts'

const CASES: readonly (readonly [name: string, text: string, encoding: EncodedText['encoding']])[] = [
  ['plain lines', 'Dear Lena,\r\n\r\nyour berth is ready.\r\n', '7bit'],
  ['no line end at the end', 'It works.', '7bit'],
  ['nothing', '', '7bit'],
  ['bare LF', 'a\nb\n\nc', '7bit'],
  ['bare CR', 'a\rb\r\rc\r', '7bit'],
  ['mixed line ends', 'a\r\n\n\r\rb', '7bit'],
  ['dots at the start of lines', '.\r\n..\r\n.a\r\n.\r\n', '7bit'],
  ['From at the start of a line', 'From here\r\nFrom there', '7bit'],
  ['a line of 998 characters', 'x'.repeat(998), '7bit'],
  ['a line of 999 characters', 'x'.repeat(999), 'quoted-printable'],
  ['a long last line', `short\r\n${'x '.repeat(600)}`, 'quoted-printable'],
  ['a few umlauts', 'Sch\u00f6ne Gr\u00fc\u00dfe aus dem Hafen, wir warten schon auf euch', 'quoted-printable'],
  ['equal signs in umlaut text', 'a=b ==\u00fc= =C3=BC and plain words to keep it readable', 'quoted-printable'],
  ['blanks before line ends', `\u00fc and plain words to keep it readable \r\n\t\r\n  \r\nend\t`, 'quoted-printable'],
  ['blanks at the fold', `\u00fc${' '.repeat(300)}x`, 'quoted-printable'],
  ['DEL and other controls', 'plain words \x7f\x01\x1b[31m\x00', 'quoted-printable'],
  ['mostly not Latin', '\u6e2f\u306e\u6848\u5185\u3067\u3059\u3002'.repeat(50), 'base64'],
  ['emoji', '\ud83d\udea2\u2693', 'base64'],
  ['bare LF in text that needs encoding', '\u00fc and plain words\nnext line\n', 'quoted-printable'],
]

for (const [name, text, encoding] of CASES) {
  t.test(`encodeText writes ${name} as ${encoding}, and it is read as it was`, async (t) => {
    const encoded = encodeText(text)
    t.equal(encoded.encoding, encoding)
    await readBack(t, text, encoded)
  })
}

t.test('naughty strings survive as text and as HTML', skipWithoutThem, async (t) => {
  for (const text of naughtyStrings) {
    if (!text.isWellFormed()) continue
    await readBack(t, text, encodeText(text))
    const padded = `plain words to keep it quoted-printable ${text} and as many more behind it\r\n`
    await readBack(t, padded, encodeText(padded))
  }
})

t.test('every length around a line break survives', async (t) => {
  for (let length = 60; length < 160; length++) {
    for (const text of [`${'x'.repeat(length)}\u00fc${'y'.repeat(length)}`, '\u6e2f'.repeat(length)]) {
      await readBack(t, text, encodeText(text))
    }
  }
})

t.test('base64Lines cuts at 76 and loses no octet', async (t) => {
  for (const length of [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 1000, 100_000]) {
    const octets = Buffer.alloc(length, 'abcde')
    const text = base64Lines(octets).toString('latin1')
    t.ok(text.split('\r\n').every((line) => line.length <= 76))
    t.ok(text.endsWith('\r\n'))
    t.ok(Buffer.from(text, 'base64').equals(octets), `${length} octets`)
  }
})

t.test('withCrlf makes every line end CRLF', async (t) => {
  t.equal(withCrlf('a\nb\rc\r\nd\n\re\r\r\n'), 'a\r\nb\r\nc\r\nd\r\n\r\ne\r\n\r\n')
  t.equal(withCrlf('none'), 'none')
})

/** Lines of ASCII, at most 76 or 998 characters, ended by CRLF; and a reader sees the text, its line ends aside. */
async function readBack(t: Test, text: string, { encoding, text: encoded }: EncodedText): Promise<void> {
  if (!encoded.endsWith('\r\n')) t.fail('the part does not end its last line')
  const most = encoding === '7bit' ? 998 : 76
  for (const line of encoded.slice(0, -2).split('\r\n')) {
    if (line.length > most || !/^[\t\x20-\x7e]*$/.test(line)) t.fail(`a bad line: ${JSON.stringify(line)}`)
    if (encoding === 'quoted-printable' && /[ \t]$/.test(line))
      t.fail('a blank at a line end is lost on the way (RFC 2045 6.7)')
  }
  const head = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  const { text: read } = await simpleParser(head + encoded)
  const lines = (value: string) => value.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  if (lines(read ?? '') !== lines(text)) t.equal(lines(read ?? ''), lines(text))
  else t.pass()
}
