import {
  createDynamicRenderer,
  createSubstituter,
  fillLegacyTemplate,
  fillUnsubscribeTags,
  inTurns,
  MOST_KEY_UNITS,
  prepareSections,
  type Substitutions,
  type UnsubscribeUrls,
  withUnsubscribeUrls,
} from '@postrider/core'
import t from 'tap'
import { costOf, longestTurnOf } from '../../helpers/turns.ts'

/** v3 contract section 2.8. */
const CASES: readonly (readonly [
  what: string,
  text: string,
  values: Substitutions,
  result: string,
  sections?: Substitutions,
])[] = [
  [
    'any delimiters, the key with them',
    '-a- %a% {{a}} :a [a] #a# a',
    { '-a-': '1', '%a%': '2', '{{a}}': '3', ':a': '4' },
    '1 2 3 4 [a] #a# a',
  ],
  ['case counts', '-Name- -name- -NAME-', { '-name-': 'x' }, '-Name- x -NAME-'],
  ['a key without delimiters', 'a name', { name: 'x' }, 'a x'],
  ['every place', '-a--a- -a-', { '-a-': 'x' }, 'xx x'],
  ['the longest key wins', ':a :ab :abc', { ':a': '1', ':ab': '2' }, '1 2 2c'],
  ['the leftmost key wins over a longer one that overlaps it', 'abcde', { abc: '1', bcdef: '2', bcde: '3' }, '1de'],
  ['a shorter one where the longer does not match', 'abcd', { abce: '1', bc: '2' }, 'a2d'],
  ['values are not looked through again', '-a- -b-', { '-a-': '-b-', '-b-': '-a-' }, '-b- -a-'],
  ['what values make together is no key', '-a-b-', { '-a-': '-', '-b-': 'x' }, '-b-'],
  ['patterns and replacements are text', '$1 .* -a-', { '.*': 'x', '-a-': '$& $1 $$' }, '$1 x $& $1 $$'],
  ['an empty key is none', 'abc', { '': 'x' }, 'abc'],
  ['an empty value', '<-a->', { '-a-': '' }, '<>'],
  ['names of JavaScript', 'toString __proto__ constructor', { constructor: 'x' }, 'toString __proto__ x'],
  ['letters beyond ASCII', 'Grüße, –náme– 🚢', { '–náme–': 'Lena', '🚢': 'ship' }, 'Grüße, Lena ship'],
  [
    'sections in values',
    'Dear -who-',
    { '-who-': '-ms-', '-name-': 'Lena' },
    'Dear Ms. Lena',
    { '-ms-': 'Ms. -name-', '-mr-': 'Mr. -name-' },
  ],
  ['sections only by values', '-ms- -a-', { '-a-': 'b' }, '-ms- b', { '-ms-': 'Ms.' }],
  [
    'a value within a section is not looked through for keys',
    '-a-',
    { '-a-': '-s-', '-b-': '-c-', '-c-': 'x' },
    '[-c-]',
    { '-s-': '[-b-]' },
  ],
  ['sections end at a depth', '-a-', { '-a-': '-s-' }, '( ( ( ( -s-', { '-s-': '( -s-' }],
]

for (const [what, text, values, result, sections] of CASES) {
  t.test(`substitutions: ${what}`, async (t) => t.equal(await substituted(text, values, sections), result))
}

t.test('each recipient has values of their own, and a key without one stays', async (t) => {
  const substituter = createSubstituter(['-a-', '-b-'])
  t.equal(await inTurns(substituter.substitute('-a- -b-', { '-a-': '1' })), '1 -b-')
  t.equal(await inTurns(substituter.substitute('-a- -b-', { '-b-': '2' })), '-a- 2')
})

/** Numbers below a bound, the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * below)
  }
}

t.test('keys are found as a plain search finds them, in thousands of texts put together by chance', async (t) => {
  const next = dice(7)
  const word = (letters: string, longest: number): string =>
    Array.from({ length: next(longest + 1) }, () => letters[next(letters.length)]).join('')
  for (let round = 0; round < 5000; round++) {
    // Few letters make keys that begin, end and hold each other.
    const letters = ['a', 'ab', 'ab-', 'aä€\ud83d\ude00', 'abcdefgh'][next(5)] as string
    const values = Object.fromEntries(
      Array.from({ length: 1 + next(12) }, () => [word(letters, 6), word(`${letters}<>`, 4)]),
    )
    const sections =
      next(2) === 0
        ? {}
        : Object.fromEntries(Array.from({ length: next(5) }, () => [word(letters, 4), word(letters, 3)]))
    const text = word(letters, 60)
    const found = await substituted(text, values, sections)
    if (found === plainly(text, values, sections)) continue
    t.fail(JSON.stringify({ round, text, values, sections, found }))
    return
  }
  t.pass('5000 rounds')
})

t.test('keys across the stretches of a long text are found', async (t) => {
  const text = `${'x'.repeat(65_534)}-key-${'y'.repeat(65_530)}-key--key-`
  const values = { '-key-': '!', 'y-': '?' }
  t.equal(await substituted(text, values), plainly(text, values))
  const long = { [`${'k'.repeat(9999)}!`]: '<1>', kkk: '<2>' }
  const near = `${'k'.repeat(60_000)}!${'k'.repeat(9998)}!`
  t.equal(await substituted(near, long), plainly(near, long))
})

/** So many keys as may be, each made of its number. */
function keysOf(make: (at: number) => string): Substitutions {
  const values: Record<string, string> = {}
  for (let at = 0, units = 0; ; at++) {
    const key = make(at)
    units += key.length
    if (units > MOST_KEY_UNITS || at === 10_000) return values
    values[key] = ''
  }
}

const letter = (at: number): string => String.fromCharCode(0x4e00 + at)
const FAMILIES: readonly (readonly [what: string, Substitutions])[] = [
  ['a, aa, aaa', keysOf((at) => 'a'.repeat(at + 1))],
  ['the same at the end', keysOf((at) => `${letter(at)}${'a'.repeat(300)}`)],
  ['the same in front', keysOf((at) => `${'a'.repeat(300)}${letter(at)}`)],
  ['one unit each', keysOf(letter)],
  ['all pairs', keysOf((at) => `${letter(at % 128)}${letter(at >> 7)}`)],
  ['a few of the longest', keysOf((at) => letter(at).repeat(10_000))],
  ['near misses', { [`b${'a'.repeat(9999)}`]: 'x', [`a${'a'.repeat(4000)}b`]: 'y', [`${'a'.repeat(9999)}b`]: 'z' }],
]

for (const [what, values] of FAMILIES) {
  t.test(`keys take time with their length and the text's, however made: ${what}`, async (t) => {
    const keys = Object.keys(values)
    const make = () => createSubstituter(keys, prepareSections(values))
    const made = await costOf(make)
    t.ok(made.all < 250, `made in ${made.all} ms`)
    const substituter = make()
    for (const text of ['a'.repeat(200_000), keys.join('').repeat(4).slice(0, 200_000), letter(3).repeat(200_000)]) {
      const { all } = await costOf(() => inTurns(substituter.substitute(text, values)))
      t.ok(all < 1000, `${all} ms`)
    }
  })
}

t.test('more keys or sections than are looked for are not made ready', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [letter(at).repeat(9999), 'x']))
  const { all } = await costOf(async () => {
    for (let round = 0; round < 50; round++) {
      t.equal(await substituted('a', many), undefined)
      t.equal(await substituted('a', { a: 'b' }, many), undefined)
    }
  })
  t.ok(all < 500, `${all} ms`)
})

t.test('a text that would grow beyond 10 MB is given up', async (t) => {
  const long = 'x'.repeat(10_000)
  t.equal(await substituted('a'.repeat(2000), { a: long }), undefined)
  const sections = { s: 'sss sss sss'.repeat(10) }
  t.equal(await substituted('a'.repeat(100), { a: 's'.repeat(100) }, sections), undefined)
  t.equal(await substituted('a', { a: long }), long)
})

t.test('sections that come to nothing are given up too, and large ones that come to something are not', async (t) => {
  const idle = { q: 'r'.repeat(1000), r: 's'.repeat(1000), s: 't'.repeat(1000), t: '' }
  const { all } = await costOf(async () => t.equal(await substituted('a', { a: 'q'.repeat(1000) }, idle), undefined))
  t.ok(all < 500, `${all} ms`)
  const long = `-name-${'x'.repeat(900_000)}-name-`
  const text = await substituted('-a--a-', { '-a-': '-s-', '-name-': 'Lena' }, { '-s-': long })
  t.equal(text, long.replaceAll('-name-', 'Lena').repeat(2))
})

t.test('a long text delays no others, nor do many of them', async (t) => {
  const values = { a: 'b', [`${'a'.repeat(9000)}b`]: 'x' }
  const substituter = createSubstituter(Object.keys(values))
  const texts = Array.from({ length: 20 }, (_, at) => 'a'.repeat(1_000_000 + at))
  let filled: (string | undefined)[] = []
  const longest = await longestTurnOf(100, async () => {
    filled = await Promise.all(texts.map((text) => inTurns(substituter.substitute(text, values))))
  })
  t.ok(filled.every((text, at) => text === 'b'.repeat(1_000_000 + at)))
  t.ok(longest < 100, `${longest} ms in one turn`)
})

const MESSAGE = { subject: 'Berth 7', html: '<p>$& ready</p>', text: 'ready' }
const TEMPLATE = { subject: '[Harbor] <%subject%>', html: '<h1>A</h1><%body%><hr><%body%>', text: 'A\n<%body%>\n--' }

t.test('a legacy template takes the message in, part by part', (t) => {
  t.strictSame(fillLegacyTemplate(TEMPLATE, MESSAGE), {
    subject: '[Harbor] Berth 7',
    html: '<h1>A</h1><p>$& ready</p><hr><p>$& ready</p>',
    text: 'A\nready\n--',
  })
  t.strictSame(
    fillLegacyTemplate(TEMPLATE, { ...MESSAGE, html: undefined }),
    { subject: '[Harbor] Berth 7', html: undefined, text: 'A\nready\n--' },
    'plain text alone drops the HTML part',
  )
  t.strictSame(
    fillLegacyTemplate(TEMPLATE, { ...MESSAGE, text: undefined }),
    { subject: '[Harbor] Berth 7', html: '<h1>A</h1><p>$& ready</p><hr><p>$& ready</p>', text: undefined },
    'HTML alone drops the plain part',
  )
  t.strictSame(
    fillLegacyTemplate({ subject: '', html: '<p>Fixed</p>', text: '' }, MESSAGE),
    { subject: 'Berth 7', html: '<p>Fixed</p>', text: 'ready' },
    'an empty subject or part is none',
  )
  t.strictSame(
    fillLegacyTemplate(TEMPLATE, {}),
    { subject: '[Harbor] ', html: '<h1>A</h1><hr>', text: 'A\n\n--' },
    'no content',
  )
  t.strictSame(
    fillLegacyTemplate({ html: '<b><%body%></b>' }, { subject: 's', text: 'ready' }),
    { subject: 's', html: undefined, text: 'ready' },
    'no plain part of its own: never an empty HTML part beside the text',
  )
  t.end()
})

const URLS = {
  group: 'https://mail.example/u/1?a=1&b=2',
  global: 'https://mail.example/g/1',
  preferences: 'https://mail.example/p/1',
}

const tagged = (text: string, urls: UnsubscribeUrls, kind: 'html' | 'text') =>
  inTurns(fillUnsubscribeTags(text, urls, kind))

t.test('unsubscribe tags become links in HTML, URLs in plain text', async (t) => {
  const bare =
    '<%asm_group_unsubscribe_raw_url%> <%asm_global_unsubscribe_raw_url%> <%asm_preferences_raw_url%> {{{unsubscribe}}}'
  t.equal(await tagged(bare, URLS, 'text'), `${URLS.group} ${URLS.global} ${URLS.preferences} ${URLS.group}`)
  t.equal(
    await tagged('<a href="<%asm_group_unsubscribe_raw_url%>">x</a>', URLS, 'html'),
    '<a href="https://mail.example/u/1?a&#x3D;1&amp;b&#x3D;2">x</a>',
  )
  t.equal(
    await tagged('<%asm_global_unsubscribe_url%> <%asm_preferences_url%>', URLS, 'html'),
    '<a href="https://mail.example/g/1">Unsubscribe</a> <a href="https://mail.example/p/1">Manage Email Preferences</a>',
  )
  t.equal(
    await tagged('<%asm_preferences_url%>', URLS, 'text'),
    'Manage Email Preferences ( https://mail.example/p/1 )',
  )
  t.equal(await tagged('<<%asm_preferences_url%>> <%asm_other%>', {}, 'html'), '<> <%asm_other%>', 'no URL, no link')
  t.equal(await tagged('<%asm_group_unsubscribe_raw_url%>', { global: URLS.global }, 'text'), URLS.global, 'no group')
})

t.test('thirty megabytes of unsubscribe tags are given up', async (t) => {
  const tags = '{{{unsubscribe}}}'.repeat(1_000_000)
  const { all } = await costOf(async () => t.equal(await tagged(tags, URLS, 'html'), undefined))
  t.ok(all < 3000, `${all} ms`)
})

t.test('a dynamic template has the unsubscribe URLs as members of its data', async (t) => {
  const renderer = createDynamicRenderer()
  t.teardown(() => renderer.close())
  const template = { text: '{{{unsubscribe}}} {{{unsubscribe_preferences}}}' }
  const data = [withUnsubscribeUrls({}, URLS), withUnsubscribeUrls({ unsubscribe: 'own' }, URLS)]
  t.strictSame(
    (await renderer.renderDynamic(template, data)).map((one) => one.kind === 'rendered' && one.text),
    [`${URLS.group} ${URLS.preferences}`, `own ${URLS.preferences}`],
  )
})

async function substituted(text: string, values: Substitutions, sections?: Substitutions) {
  return await inTurns(createSubstituter(Object.keys(values), prepareSections(sections)).substitute(text, values))
}

/** v3 contract 2.8, letter by letter: in the text keys, in their values section tags, in a section both. */
function plainly(
  text: string,
  values: Substitutions,
  sections: Substitutions = {},
  depth = 0,
  inSection = false,
): string {
  const looked = depth === 0 ? [values] : inSection ? [sections, values] : [sections]
  const all = looked.flatMap((map) => Object.keys(map)).filter((key) => key !== '')
  const keys = all.sort((a, b) => b.length - a.length)
  let result = ''
  for (let at = 0; at < text.length; ) {
    const key = keys.find((key) => text.startsWith(key, at))
    if (key === undefined) result += text[at++]
    else {
      result += putIn(key, values, sections, depth)
      at += key.length
    }
  }
  return result
}

function putIn(key: string, values: Substitutions, sections: Substitutions, depth: number): string {
  const [value, section] = [values[key], depth > 0 ? sections[key] : undefined]
  if (section !== undefined && depth <= 4) return plainly(section, values, sections, depth + 1, true)
  if (value === undefined || depth > 4) return key
  return depth < 4 && Object.keys(sections).length > 0 ? plainly(value, values, sections, depth + 1) : value
}
