import t from 'tap'
import { generateText } from '../../../packages/core/src/content/plain-text/html-text.ts'
import { atOnce } from '../../../packages/core/src/platform/concurrency/turns.ts'
import { takesLinearTime } from '../../helpers/linear.ts'

const textOf = (html: string): string => atOnce(generateText(html)).text
const fill = (pattern: string, length: number): string => pattern.repeat(Math.ceil(length / pattern.length))

/** HTML made to take a converter time with its square (V24). */
const PATTERNS = [
  '<div>',
  '<div></p>',
  '<table>',
  '<table><tr><td>',
  '<table><tr><td>x',
  '<td>x',
  '<ul><li>',
  '<ul><li>x',
  '<li>x</ul>',
  '<ol start=999999><li>a',
  '<blockquote>x',
  '<blockquote><br>x',
  '<pre>\n\n',
  '<b>',
  '</i>',
  '</td>',
  '<a href=x>',
  '<a href="https://quay.example/y">z',
  '<a href="&amp;">z</a>',
  '<img alt=x>',
  '<div hidden>',
  '<p style="display:none">',
  '<p style="opacity:0.0',
  '<p style="font-size:0">x',
  '<b style="font-size:0"><b style="font-size:1px">x',
  '<i style="white-space:pre-line">\n',
  '<q>',
  '<del>x</del><ins>',
  '<select><li>x',
  '<title>',
  '<script>',
  '<!--',
  '<',
  '<x ',
  '<a href=',
  '&',
  '&am',
  '&#847;',
  'x<br>',
  '\u200b ',
  '\u200c',
  ' ',
  'a ',
]

for (const pattern of PATTERNS) {
  t.test(`text of 32 and 128 kB of ${JSON.stringify(pattern)} takes linear time`, async (t) => {
    const html = { 1: fill(pattern, 32 * 1024), 4: fill(pattern, 128 * 1024) }
    takesLinearTime(t, (times) => textOf(html[times]))
  })
}

t.test('elements that close others far away take linear time', async (t) => {
  for (const [open, close] of [
    ['<ul><li>', '</blockquote>'],
    ['<b hidden><i>', '</u>'],
    ['<table><td>', '</tr>'],
    ['<td><ul>', '</table>'],
  ] as const) {
    const html = { 1: fill(open, 16_000) + fill(close, 16_000), 4: fill(open, 64_000) + fill(close, 64_000) }
    takesLinearTime(t, (times) => textOf(html[times]))
  }
})

t.test('a text of more than 1 MiB is cut, and says so', async (t) => {
  const text = textOf(fill('word ', 30 * 1024 * 1024))
  t.equal(text.length, 1024 * 1024 + '\n[…]'.length)
  t.match(text, /word w\n\[…\]$/)
  // 8 characters of HTML become 12 indents.
  t.ok(textOf(fill('<ul><li>x', 4 * 1024 * 1024)).length <= 1024 * 1024 + 4)
})

t.test('what is read in steps is the same wherever they end', async (t) => {
  const html =
    '<p>caf&eacute; <a href="https://quay.example/?a=1&amp;b=2" style="display:block">one</a> &CounterClockwiseContourIntegral;</p>'
  const expected = textOf(html)
  for (let before = 4096 - html.length; before <= 4096; before++) {
    t.equal(textOf(`<!--${'x'.repeat(before - 7)}-->${html}`), expected)
  }
  const long = `${'ab '.repeat(21_843)}x&eacute;y`
  t.match(textOf(long), /xéy$/, 'a reference at the end of a piece')
})

t.test('at most 64 elements are open, and the text of those within is not lost', async (t) => {
  const deep = `${'<blockquote>'.repeat(200)}deep${'</blockquote>'.repeat(200)}after`
  t.match(textOf(deep), /^(> ){12}deep\n\nafter$/)
})
