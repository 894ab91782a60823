import t from 'tap'
import { findTextLinks } from '../../../../packages/core/src/composition/links/text-links.ts'

const A = 'https://quay.example/a'
const tracked = (text: string): string[] => findTextLinks(text).map(({ start, end }) => text.slice(start, end))
/** A URL that ends in this column if it begins its line. */
const long = (columns: number): string => `${A}?t=`.padEnd(columns, 'a1')

t.test('a URL within another one, or behind anything but white space and marks that open, is left alone', async (t) => {
  for (const outer of [
    'www.quay.example/login?next=',
    'quay.example/?u=',
    'https://bücher.example/?u=',
    'https://quay.example/日本?next=',
    'https://quay.example/a|b?u=',
    'https://quay.example/{id}/',
    'myapp://open?u=',
    'intent://scan/#Intent;S.url=',
    'whatsapp://send?text=',
    'ftp://quay.example/?u=',
    'mailto:a@quay.example?body=',
    'git+',
    'feed:',
    'view-source:',
    'web.archive.org/web/2020/',
    'a@quay.example/',
    'Berth:',
    'href=',
    'href="',
    "href='",
    'f(',
    'x<',
    'x[(',
    '（',
    '\u00a0',
    '\u200b',
    '>',
    '-',
    '<url=',
  ]) {
    for (const [before, after] of [
      ['', ''],
      ['See ', ' now'],
      ['Share (', ')'],
      ['<', '>'],
      ['\n"', '"'],
    ]) {
      const text = `${before}${outer}${A}${after}`
      t.strictSame(tracked(text), [], text)
      t.strictSame(tracked(`${A}\n\n${text}\n\n${A}`), [A, A], 'those around it are tracked')
    }
  }
  for (const list of [`${A},ftp://quay.example/b`, `${A};www.quay.example/b`]) t.strictSame(tracked(list), [], list)
  for (const text of [
    A,
    `\t${A}`,
    `\n${A}`,
    `\r\n${A}`,
    `("${A}")`,
    `(<${A}>)`,
    ` [${A}]`,
    `<URL:${A}>`,
    `<url:${A}>`,
  ]) {
    t.strictSame(tracked(text), [A], text)
  }
  for (const text of [`<myapp://a b ${A}>`, `<${A}?u= ${A}>`]) t.strictSame(tracked(text), [], text)
})

t.test('a URL with an apostrophe is left alone, unless the apostrophes are around it', async (t) => {
  for (const text of [
    "Read https://quay.example's blog today",
    `See ${A}'s page`,
    "https://quay.example/it's",
    `${A}'b`,
    `(${A}'b)`,
    `"${A}'s"`,
    `'${A}'s page'`,
    `(${A})'s`,
    `${A}'`,
    `${A}?q='x'`,
  ]) {
    t.strictSame(tracked(text), [], text)
    t.strictSame(tracked(`${A} ${text}\n\n${A}`), [A, A], 'those around it are tracked')
  }
  t.strictSame(tracked(`It's '${A}', isn't it?`), [A])
})

t.test('a URL that may go on in the next line is left alone', async (t) => {
  for (const [first, second] of [
    [`Copy https://quay.example/reset?token=abc/`, 'and so on'],
    [`${A}?x=`, 'bbbb'],
    [`${A}?x=`, 'https://quay.example/b'],
    [`${A}#/`, 'bbbb'],
    [`${A}aaa`, '&y=2'],
    [`${A}aaa`, '?x'],
    [`${A}aaa`, '/b'],
    [`${A}aaa`, '-b and more'],
    [`${A}aaa`, '%20b'],
    [`${A}aaa`, '_b'],
    [`${A}aaa`, 'b=1&c=2 and more'],
    [`(${A}?a=b`, 'fg)'],
    [`(see ${A}?a=b`, 'fg)'],
    [`[${A}`, 'fg]'],
    [`"${A}`, 'b"'],
    [`'${A}`, "b'"],
    [`<${A}`, 'b>'],
    [long(60), 'and so on'],
    [long(72), 'a1a1'],
    [long(72), 'Harbour'],
    [`See ${long(72)}`, 'a1a1'],
    [long(80), 'a1a1'],
    [long(100), 'a1a1'],
    [long(100), 'a x'],
    [long(120), 'A'],
    [long(998), 'a1a1'],
    [`${long(72)}`, long(72).slice(24)],
    [`https://quay.example/${'berth-'.repeat(6)}4/`, 'the-next-arrival'],
    ['https://quay.example/', 'a1'.repeat(30)],
    ['https://quay.example/', 'a1'.repeat(400)],
  ] as const) {
    for (const text of [
      `${first}\n${second}`,
      `${first} \r\n${second}\r\nx`,
      `${first}\n ${second}`,
      `> ${first}\n> ${second}`,
    ]) {
      t.strictSame(tracked(text), [], text)
      t.strictSame(tracked(`${A} x\n${text}\n\n${A}`), [A, A], 'those around it are tracked')
    }
  }
  for (const first of [
    `${A}?next=`,
    `www.quay.example/?a&`,
    'myapp://open?u=',
    'https://bücher.example/a?',
    `(${A}?q/`,
  ]) {
    t.strictSame(tracked(`${first}\r\n${A}`), [], `${first}: the line before it may go on`)
  }
})

t.test('a URL at the end of a line is tracked if the next one cannot be a part of it', async (t) => {
  for (const [text, ...urls] of [
    [`See\n${A}\nThanks`, A],
    [`See\r\n${A}\r\nand so on`, A],
    ['https://quay.example/\nThanks', 'https://quay.example/'],
    ['https://quay.example/berths/4/\nThanks', 'https://quay.example/berths/4/'],
    [`${A}\n${A}\nhttps://quay.example/\n${A}`, A, A, 'https://quay.example/', A],
    [`${A}?t=b=\n\nThanks`, `${A}?t=b=`],
    [`${A}?t=b=`, `${A}?t=b=`],
    [`${A}?t=b= \n`, `${A}?t=b=`],
    [`${A}\n-- \nQuay`, A],
    [`${A}\n-----\nQuay`, A],
    [`${A}\n===\nQuay`, A],
    [`${A}\n- pier 4\n- pier 5`, A],
    [`${A}\n> quoted`, A],
    [`Where?\n${A}`, A],
    [`What is 5 % of it =\n${A}`, A],
    [`${long(72)}\n\nThanks`, long(72)],
    [`${long(72)}\nThis link expires at noon, and leads to the page on which you set a new password.`, long(72)],
    [
      `With this link, you set a new password. It expires at noon, as always, and works only once:\n${long(72)}\nThanks`,
      long(72),
    ],
    [`${long(120)}\nThis link expires at noon.`, long(120)],
    [`${long(120)}\nThanks!`, long(120)],
    [`${long(120)}\n谢谢`, long(120)],
    [`(see ${A})\nThanks`, A],
    [`(see ${A} or\nthe page)`, A],
  ] as readonly (readonly [string, ...string[]])[]) {
    t.strictSame(tracked(text), urls, text)
  }
})

t.test('a URL without a valid host name is left alone', async (t) => {
  for (const host of [
    '/',
    '-',
    'a..b',
    '*.quay.example',
    '-quay.example',
    'quay-.example',
    '.example',
    '~',
    'quay.example,b',
    '?',
    '#',
    `${'q'.repeat(64)}.example`,
    `${'q.'.repeat(128)}example`,
  ]) {
    t.strictSame(tracked(`See https://${host}/x now`), [], host)
  }
  for (const host of [
    'localhost',
    '127.0.0.1',
    'quay.example:8080',
    'my_berth.quay.example',
    'xn--hfen-loa.example',
    'a@quay.example',
  ]) {
    t.strictSame(tracked(`See https://${host}/x now`), [`https://${host}/x`], host)
  }
})
