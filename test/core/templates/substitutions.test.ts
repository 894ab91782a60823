import {
  createDynamicRenderer,
  createSubstituter,
  fillLegacyTemplate,
  fillUnsubscribeTags,
  type Substitutions,
  withUnsubscribeUrls,
} from '@postrider/core'
import t from 'tap'

/** Contract section 2.8. */
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
  t.test(`substitutions: ${what}`, (t) => {
    const substituted = createSubstituter(Object.keys(values), sections).substitute(text, values)
    t.equal(substituted, result)
    t.end()
  })
}

t.test('each recipient has values of their own, and a key without one stays', (t) => {
  const substituter = createSubstituter(['-a-', '-b-'])
  t.equal(substituter.substitute('-a- -b-', { '-a-': '1' }), '1 -b-')
  t.equal(substituter.substitute('-a- -b-', { '-b-': '2' }), '-a- 2')
  t.end()
})

t.test('keys are found as a plain search finds them, in a thousand texts put together by chance', (t) => {
  let seed = 7
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 4_294_967_296) * below)
  }
  const word = (longest: number): string => Array.from({ length: 1 + next(longest) }, () => 'ab-'[next(3)]).join('')
  for (let round = 0; round < 1000; round++) {
    const values = Object.fromEntries(Array.from({ length: 1 + next(6) }, (_, at) => [word(5), `<${at}>`]))
    const text = word(60)
    t.equal(
      createSubstituter(Object.keys(values)).substitute(text, values),
      plainly(text, values),
      `${text} ${JSON.stringify(values)}`,
    )
  }
  t.end()
})

t.test('keys across the stretches of a long text are found', (t) => {
  const text = `${'x'.repeat(65_534)}-key-${'y'.repeat(65_530)}-key--key-`
  const values = { '-key-': '!', 'y-': '?' }
  t.equal(createSubstituter(Object.keys(values)).substitute(text, values), plainly(text, values))
  t.end()
})

t.test('ten thousand keys take time with the text alone, whatever they begin with', (t) => {
  const families: readonly Substitutions[] = [
    Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`-key${at}-`, `${at}`])),
    Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`${'a'.repeat(at % 140)}b${at}`, `${at}`])),
    { ['a'.repeat(9000)]: 'x', [`${'a'.repeat(9999)}b`]: 'y', a: 'a' },
    { [`b${'a'.repeat(9000)}`]: 'x', [`a${'a'.repeat(4000)}`]: 'y' },
  ]
  for (const values of families) {
    const substituter = createSubstituter(Object.keys(values))
    const cost = (size: number): number => {
      const text = `${'a'.repeat(size)}-key77-`
      const began = process.threadCpuUsage()
      substituter.substitute(text, values)
      const { user, system } = process.threadCpuUsage(began)
      return (user + system) / 1000
    }
    cost(50_000)
    const once = cost(60_000)
    const four = cost(240_000)
    t.ok(four < 6 * Math.max(once, 5), `${once} ms, ${four} ms`)
  }
  t.end()
})

t.test('a text that would grow beyond 10 MB is given up', (t) => {
  const long = 'x'.repeat(10_000)
  t.equal(createSubstituter(['a']).substitute('a'.repeat(2000), { a: long }), undefined)
  const sections = { s: 'sss sss sss'.repeat(10) }
  t.equal(createSubstituter(['a'], sections).substitute('a'.repeat(100), { a: 's'.repeat(100) }), undefined)
  t.equal(createSubstituter(['a']).substitute('a', { a: long }), long)
  t.end()
})

t.test('sections that come to nothing after a million turns are given up too', (t) => {
  const sections = { q: 'r'.repeat(1000), r: 's'.repeat(1000), s: 't'.repeat(1000), t: '' }
  const began = performance.now()
  t.equal(createSubstituter(['a'], sections).substitute('a', { a: 'q'.repeat(1000) }), undefined)
  t.ok(performance.now() - began < 10_000)
  t.end()
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

t.test('unsubscribe tags become links in HTML, URLs in plain text', (t) => {
  const bare =
    '<%asm_group_unsubscribe_raw_url%> <%asm_global_unsubscribe_raw_url%> <%asm_preferences_raw_url%> {{{unsubscribe}}}'
  t.equal(fillUnsubscribeTags(bare, URLS, 'text'), `${URLS.group} ${URLS.global} ${URLS.preferences} ${URLS.group}`)
  t.equal(
    fillUnsubscribeTags('<a href="<%asm_group_unsubscribe_raw_url%>">x</a>', URLS, 'html'),
    '<a href="https://mail.example/u/1?a&#x3D;1&amp;b&#x3D;2">x</a>',
  )
  t.equal(
    fillUnsubscribeTags('<%asm_global_unsubscribe_url%> <%asm_preferences_url%>', URLS, 'html'),
    '<a href="https://mail.example/g/1">Unsubscribe</a> <a href="https://mail.example/p/1">Manage Email Preferences</a>',
  )
  t.equal(
    fillUnsubscribeTags('<%asm_preferences_url%>', URLS, 'text'),
    'Manage Email Preferences ( https://mail.example/p/1 )',
  )
  t.equal(
    fillUnsubscribeTags('<<%asm_preferences_url%>> <%asm_other%>', {}, 'html'),
    '<> <%asm_other%>',
    'no URL, no link',
  )
  t.equal(
    fillUnsubscribeTags('<%asm_group_unsubscribe_raw_url%>', { global: URLS.global }, 'text'),
    URLS.global,
    'no group',
  )
  t.end()
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

function plainly(text: string, values: Substitutions): string {
  const keys = Object.keys(values).sort((a, b) => b.length - a.length)
  let result = ''
  for (let at = 0; at < text.length; ) {
    const key = keys.find((key) => text.startsWith(key, at))
    result += key === undefined ? text[at] : values[key]
    at += key?.length ?? 1
  }
  return result
}
