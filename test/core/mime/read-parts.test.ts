import t from 'tap'
import { readParts } from '../../../packages/core/src/mime/read-parts.ts'

const read = (...lines: string[]) => {
  const { html, text, files, ...others } = readParts(Buffer.from(lines.join('\r\n'), 'latin1'))
  const shown = (octets: Uint8Array | undefined) => octets && Buffer.from(octets).toString()
  return {
    ...others,
    html: shown(html),
    text: shown(text),
    files: files.map((file) => ({ ...file, content: shown(file.content) })),
  }
}

t.test('texts are decoded from their transfer encoding and charset', async (t) => {
  const quoted = read(
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '=DCber=',
    'fahrt',
  )
  t.equal(quoted.text, 'Überfahrt')
  const encoded = read('Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: base64', '', 'w5w=')
  t.equal(encoded.html, 'Ü')
  t.equal(encoded.text, undefined)
  t.equal(read('Content-Type: text/plain; charset=no-such', '', 'a\xfc').text, 'aü')
  t.equal(read('', 'hello', '').text, 'hello\n')
})

t.test('flowed text is put together again', async (t) => {
  const flowed = (type: string) =>
    read(`Content-Type: text/plain; format=flowed${type}`, '', 'one ', 'two', ' three', '-- ', 'me').text
  t.equal(flowed(''), 'one two\nthree\n-- \nme')
  t.equal(flowed('; delsp=yes'), 'onetwo\nthree\n-- \nme')
})

/** What a file's part says of its name, and the name. */
const NAMES: readonly [field: string, name: string | undefined][] = [
  ['Content-Disposition: attachment; filename="plan.bin"', 'plan.bin'],
  ['Content-Disposition: attachment; filename="=?utf-8?Q?=C3=9C.bin?="', 'Ü.bin'],
  ["Content-Disposition: attachment; filename*=UTF-8''%C3%9C.bin; filename=old.bin", 'Ü.bin'],
  ["Content-Disposition: attachment; filename*0*=iso-8859-1'de'%DC; filename*1=.bi; filename*2*=%6E", 'Ü.bin'],
  ['Content-Disposition: attachment\r\nContent-Type: image/png; name=chart.png', 'chart.png'],
  ['Content-Disposition: attachment', undefined],
]

for (const [field, name] of NAMES) {
  t.test(`a file with ${JSON.stringify(field)} is named ${name}`, async (t) => {
    t.equal(read(field, '', 'x').files[0]?.fileName, name)
  })
}

t.test('files come with what they are and whether the text shows them', async (t) => {
  const { files, html, whole } = read(
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    '<img src="cid:chart@here">',
    '--b',
    'Content-Type: image/png',
    'Content-ID: <chart@here>',
    'Content-Transfer-Encoding: base64',
    '',
    'dGhlIHBs',
    'YW4=',
    '--b',
    'Content-Type: application/pdf',
    '',
    'x',
    '--b--',
    '',
  )
  t.equal(html, '<img src="cid:chart@here">')
  t.ok(whole)
  t.match(files, [
    { type: 'image/png', inline: true, contentId: 'chart@here', content: 'the plan' },
    { type: 'application/pdf', inline: false, contentId: undefined, content: 'x' },
  ])
})

t.test('more parts, depth or text than is read is said, and so is what must not be taken apart', async (t) => {
  const head = 'Content-Type: multipart/mixed; boundary=b\r\n'
  t.match(read(head, '--b\r\n\r\na\r\n'.repeat(1001)), { complete: false, whole: false })
  const deep = Array.from({ length: 12 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}`)
  t.match(read(...deep, '', 'x'), { complete: false, whole: false })
  t.match(read('Content-Type: text/plain', '', 'x'.repeat(10 * 1024 * 1024 + 1)), { complete: false, text: undefined })
  t.match(read('Content-Type: multipart/signed; boundary=b', '', '--b', '', 'x', '--b--'), {
    complete: true,
    whole: false,
  })
})
