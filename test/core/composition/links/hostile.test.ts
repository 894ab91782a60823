import t, { type Test } from 'tap'
import { addToMime } from '../../../../packages/core/src/composition/add-to-mime.ts'
import { fillHtml } from '../../../../packages/core/src/composition/links/fill-plan.ts'
import { findHtmlLinks } from '../../../../packages/core/src/composition/links/html-links.ts'
import { withParameters } from '../../../../packages/core/src/composition/links/link-parameters.ts'
import { type Plan, planHtml, planText } from '../../../../packages/core/src/composition/links/plan.ts'
import { findTextLinks } from '../../../../packages/core/src/composition/links/text-links.ts'
import { cutSentence } from '../../../../packages/core/src/composition/links/unsubscribe-sentence.ts'
import { contentIdsIn } from '../../../../packages/core/src/mime/content-id.ts'

/** Texts made to take a reader time with their square (V24): one pattern, over and over. */
const HTML = [
  '<',
  '<!--',
  '<!',
  '<?',
  '</',
  '<a',
  '<a ',
  '<a href',
  '<a href=',
  '<a href="',
  "<a href='",
  '<a href="https://q.example',
  '&',
  '&#',
  '&am',
  '<script',
  '<script></scrip',
  '<title></titl',
  '<style><!--',
  '<![CDATA[',
  '-->',
  '--',
  '"',
  '=',
  '\n',
  '<head>',
  '</head',
  '<textarea>',
  '<plaintext>',
  '<svg>',
  '<a href="https://q.example/&amp;">',
  '<a href=https://q.example>',
  '<a data-postrider-track=off ',
  '<a href=" ',
  '[%UNSUBSCRIBE_URL',
  '[%    ',
  '[%',
]
const TEXT = [
  'https://',
  'http',
  'h',
  'https://q.example',
  'https://q.example)',
  'https://q.example(',
  '(',
  ')',
  '[',
  '.',
  'https://q.example.......',
  '«https://q.example»',
  '[%UNSUBSCRIBE_URL',
  '[% ',
  'https://q.example/[%UNSUBSCRIBE_URL%]',
  '\n',
  '> ',
  'https://q.example/?a=\n',
  `https://q.example\n \n${' b'.repeat(50)} `,
  `https://q.example\r${' b'.repeat(50)} `,
  `https://q.example/\r\n${' b'.repeat(50)} `,
  '/?a=\nhttps://q.example\nb',
  ` https://q.example${' b'.repeat(50)} `,
  '(<"\'https://q.example ',
]
const MIME = [
  '\r\n--b',
  '\r\n--b\r\n',
  '\r\n--bb',
  '\r\n--b--',
  '--b\r\n',
  '\r\n',
  '\n',
  '=',
  '= ',
  '=\r\n',
  '=4',
  ' ',
  ' \r\n',
  'A',
  'A=',
  'AAAA',
  '-----BEGIN PGP',
  '\r\n--b\r\n\r\n',
  '\r\n--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
  '\r\n--b\r\nContent-Type: text/plain; a="',
  '\r\n--b\r\nContent-Type: text/plain;a="b";',
  '\r\n--b ',
  'Content-Type: x/y\r\n',
  ' folded\r\n',
]
const ALL = { openTracking: true, clickTracking: true, unsubscribe: true }
const options = {
  ...ALL,
  footer: undefined,
  own: ['https://own.example/t/'],
}
const links = {
  open: () => 'https://own.example/t/o/x',
  click: () => 'https://own.example/t/c/x',
  unsubscribe: () => 'https://own.example/t/u/x',
  unsubscribeFromAll: () => 'https://own.example/t/u/y',
  preferences: () => 'https://own.example/t/p/x',
}

/** Milliseconds of processor time, the better of two: the machine has other work. */
function timed(act: () => void): number {
  const once = () => {
    const since = process.cpuUsage()
    act()
    return process.cpuUsage(since).user / 1000
  }
  return Math.min(once(), once())
}

/** Takes no longer than its length, and no longer than a tenth of a second for 100 kB (V24). */
function scales(t: Test, what: string, act: (text: string) => void, pattern: string): unknown {
  const make = (length: number) => pattern.repeat(Math.ceil(length / pattern.length))
  const large = timed(() => act(make(400_000)))
  // The square of it would be minutes.
  if (large < 100) return t.pass()
  const small = timed(() => act(make(100_000)))
  t.ok(small < 100, `${what} ${JSON.stringify(pattern)}: ${small.toFixed(1)} ms`)
  return t.ok(large / small < 7, `${what} ${JSON.stringify(pattern)}: ${(large / small).toFixed(1)} times`)
}

t.test('no HTML takes time with its square', async (t) => {
  for (const pattern of HTML) {
    scales(t, 'links', (text) => findHtmlLinks(text), pattern)
    scales(t, 'links in a tag', (text) => findHtmlLinks(`<a href="${text}`), pattern)
    scales(t, 'plan', (text) => planHtml(text, options), pattern)
  }
})

t.test('no text takes time with its square', async (t) => {
  for (const pattern of TEXT) {
    scales(t, 'links', (text) => findTextLinks(text), pattern)
    scales(t, 'plan', (text) => planText(text, options), pattern)
  }
})

t.test('no tag, mark or id of the sender’s own takes time with its square', async (t) => {
  const own = {
    ...options,
    openTag: 'a',
    unsubscribeTag: 'aa',
    linkParameters: { a: 'b' },
    literal: { text: true, footer: true },
  }
  for (const pattern of ['a', '<a href=http://q.example/a>', '[%UNSUBSCRIBE_URL%]', '&']) {
    scales(t, 'plan', (text) => planHtml(text, own), pattern)
    scales(t, 'plan of a text', (text) => planText(text, own), pattern)
    scales(t, 'filled', (text) => fillHtml(planHtml(text, own) as Plan, links, 0), pattern)
    scales(t, 'parameters', (text) => withParameters(`https://q.example/?${text}`, own.linkParameters), pattern)
  }
  for (const pattern of ['<%', '<% %', '<% %>', '%>', '<%%']) scales(t, 'sentence', cutSentence, pattern)
  for (const pattern of ['cid:', 'cid:a', 'cid:%', 'cid: ']) scales(t, 'content ids', contentIdsIn, pattern)
  const filled = fillHtml(
    planHtml('a'.repeat(10_000_000), { ...own, openTracking: false, unsubscribeTag: 'a' }) as Plan,
    links,
    0,
  )
  t.ok(filled.length < 11_000_000, 'nor does one letter become a link everywhere')
})

t.test('no MIME message takes time with its square', async (t) => {
  for (const encoding of ['7bit', 'quoted-printable', 'base64']) {
    for (const type of ['text/plain', 'text/html', 'text/html; charset=iso-2022-jp', 'multipart/mixed; boundary=b']) {
      for (const pattern of MIME) {
        const head = `Received: x\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
        scales(t, `${encoding} ${type}`, (text) => add(`${head}${text}`), pattern)
      }
    }
  }
  for (const pattern of MIME)
    scales(
      t,
      'header',
      (text) => add(`Received: x\r\nContent-Type: ${text}\r\n\r\nx`),
      pattern.replace(/\r\n$/, '\r\n '),
    )
})

function add(message: string): void {
  const parts = new Map([[0, Buffer.from(message)]])
  addToMime(parts, { additions: ALL, links, own: options.own })
}

t.test(
  'of very many links the first thousand are tracked, and HTML beyond a megabyte is not read for any',
  async (t) => {
    const many = '<a href="https://q.example">x</a>'.repeat(3000)
    t.equal(planHtml(many, options)?.links, 1000)
    const long = `${'<p>x</p>'.repeat(140_000)}${many}</body>`
    t.match(planHtml(long, options), {
      links: 0,
      pixel: true,
      unsubscribeLine: true,
      end: long.length - '</body>'.length,
    })
  },
)
