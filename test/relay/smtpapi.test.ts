import { atOnce } from '@postrider/core'
import t from 'tap'
import { splitHeader } from '../../packages/core/src/raw/header.ts'
import { findSmtpApi, readSmtpApi, type SmtpApi, substitutionsOf } from '../../packages/core/src/raw/smtpapi/smtpapi.ts'
import { takesLinearTime } from '../helpers/linear.ts'

const NOW = new Date('2026-01-05T12:00:00Z')
const SECONDS = NOW.getTime() / 1000
const DAY = 86_400

function read(value: unknown): SmtpApi {
  const reading = atOnce(readSmtpApi(typeof value === 'string' ? value : JSON.stringify(value), NOW))
  if (reading.kind === 'wrong') throw new Error(JSON.stringify(reading.problems))
  return reading.api
}

function problems(value: unknown): (readonly string[])[] {
  const reading = atOnce(readSmtpApi(typeof value === 'string' ? value : JSON.stringify(value), NOW))
  return reading.kind === 'read' ? [] : reading.problems.map(({ path, problem }) => [path, problem])
}

t.test('an empty object says nothing', (t) => {
  t.strictSame(read('{}'), { filters: {} })
  t.end()
})

t.test('every key of the table is read', (t) => {
  const api = read({
    to: ['lena@harbor.example', 'Ole Olsen <ole@harbor.example>', '"Tom, T." <tom@harbor.example>'],
    sub: { '-name-': ['Lena', 'Ole', 'Tom'], '%berth%': [7, 8] },
    section: { '-ms-': 'Ms. -name-' },
    category: ['berths', 'harbor', 'berths'],
    unique_args: { order: '17', paid: true, none: null },
    send_at: SECONDS + DAY,
    batch_id: 'HkJ5yLYULb7Rj8GKSx7u025ouWVlMgAi',
    asm_group_id: 5,
    asm_groups_to_display: [5, 6],
    ip_pool: 'main',
  })
  t.strictSame(api, {
    to: [
      { email: 'lena@harbor.example', name: '' },
      { email: 'ole@harbor.example', name: 'Ole Olsen' },
      { email: 'tom@harbor.example', name: 'Tom, T.' },
    ],
    sub: new Map([
      ['-name-', ['Lena', 'Ole', 'Tom']],
      ['%berth%', ['7', '8']],
    ]),
    sendAt: new Date('2026-01-06T12:00:00Z'),
    section: new Map([['-ms-', 'Ms. -name-']]),
    categories: ['berths', 'harbor'],
    categoryIsList: true,
    uniqueArgs: new Map([
      ['order', '17'],
      ['paid', 'true'],
      ['none', ''],
    ]),
    filters: {},
    batchId: 'HkJ5yLYULb7Rj8GKSx7u025ouWVlMgAi',
    groupId: 5,
    groupsToDisplay: [5, 6],
    ipPool: 'main',
  })
  t.strictSame(substitutionsOf(api, 0), { '-name-': 'Lena', '%berth%': '7' })
  t.strictSame(substitutionsOf(api, 2), { '-name-': 'Tom', '%berth%': '' }, 'a list that is too short')
  t.strictSame(substitutionsOf(read({}), 0), {})
  t.end()
})

t.test('one category is kept apart from a list of one', (t) => {
  t.strictSame(read({ category: 'berths' }), { categories: ['berths'], categoryIsList: false, filters: {} })
  t.strictSame(read({ category: ['berths'] }), { categories: ['berths'], categoryIsList: true, filters: {} })
  t.end()
})

t.test('send_each_at is one moment for each recipient; what has passed is read too', (t) => {
  t.strictSame(read({ to: ['a@b.example', 'c@d.example'], send_each_at: [SECONDS - DAY, SECONDS + DAY] }).sendEachAt, [
    new Date('2026-01-04T12:00:00Z'),
    new Date('2026-01-06T12:00:00Z'),
  ])
  t.strictSame(read({ send_at: -5 }).sendAt, new Date(0))
  t.end()
})

t.test('an empty list of groups to display means all of them', (t) => {
  t.strictSame(read({ asm_groups_to_display: [] }), { filters: {} })
  t.end()
})

t.test('unknown keys and nulls are passed over', (t) => {
  t.strictSame(read({ charset: 'UTF-8', to: null, category: null, filters: null, x: { y: [1] } }), { filters: {} })
  t.end()
})

t.test('filters are read with all their settings', (t) => {
  const settings = (settings: Record<string, unknown>) => ({ settings })
  t.strictSame(
    read({
      filters: {
        bypass_list_management: settings({ enable: 1 }),
        bypass_spam_management: settings({ enable: '1' }),
        bypass_bounce_management: settings({ enable: 0 }),
        bypass_unsubscribe_management: settings({ enable: true }),
        clicktrack: settings({ enable: 1, enable_text: 0 }),
        opentrack: settings({ enable: 1, replace: '%pixel%' }),
        subscriptiontrack: settings({ enable: 1, 'text/html': '<% here %>', 'text/plain': '<% %>', replace: '[out]' }),
        footer: settings({ enable: '0', 'text/html': '<p>Harbor</p>', 'text/plain': 'Harbor' }),
        ganalytics: settings({ enable: 1, utm_source: 'harbor', utm_campaign: 'spring', utm_other: 'x' }),
        templates: settings({ enable: 1, template_id: '5997fcf6-2b9f-484d-acd5-7e9a99f0dc1f' }),
        bcc: settings({ enable: 1, email: 'copy@harbor.example' }),
        spamcheck: settings({ enable: 'yes' }),
        dkim: settings({ domain: 'ship.example', use_from: true }),
        template: settings({ enable: 1, 'text/html': '<% body %>' }),
        other: 'anything',
      },
    }).filters,
    {
      bypassListManagement: { enable: true },
      bypassSpamManagement: { enable: true },
      bypassBounceManagement: { enable: false },
      bypassUnsubscribeManagement: { enable: true },
      clickTracking: { enable: true, enableText: false },
      openTracking: { enable: true, tag: '%pixel%' },
      subscriptionTracking: { enable: true, html: '<% here %>', text: '<% %>', tag: '[out]' },
      footer: { enable: false, html: '<p>Harbor</p>', text: 'Harbor' },
      ganalytics: {
        enable: true,
        utm: new Map([
          ['utm_source', 'harbor'],
          ['utm_campaign', 'spring'],
        ]),
      },
      template: { enable: true, templateId: '5997fcf6-2b9f-484d-acd5-7e9a99f0dc1f' },
    },
  )
  t.strictSame(read({ filters: { clicktrack: {}, footer: { settings: [] } } }).filters, {
    clickTracking: {},
    footer: {},
  })
  t.strictSame(read({ filters: [] }).filters, {}, 'an empty list, as PHP writes an empty object')
  t.end()
})

const MANY = Array.from({ length: 10_001 }, (_, at) => `a${at}@b.example`)
const DEEP = `{"a":${'['.repeat(16)}${']'.repeat(16)}}`

/** What is wrong, and what the sender is told. */
const WRONG: readonly (readonly [what: string, value: unknown, path: string, problem: RegExp])[] = [
  ['no JSON', '{to: [a@b.example]}', 'X-SMTPAPI', /must be valid JSON/],
  ['JSON that ends early', '{"to":["a@b.example"', 'X-SMTPAPI', /must be valid JSON/],
  ['nothing', '', 'X-SMTPAPI', /must be valid JSON/],
  ['a list', '["a@b.example"]', 'X-SMTPAPI', /must be a JSON object/],
  ['null', 'null', 'X-SMTPAPI', /must be a JSON object/],
  ['a text', '"to"', 'X-SMTPAPI', /must be a JSON object/],
  ['something nested too deep', DEEP, 'X-SMTPAPI', /at most 16 levels deep/],
  ['lists without end', '['.repeat(100_000), 'X-SMTPAPI', /at most 16 levels deep/],
  ['a field of more than 512 KiB', `{"x":"${'a'.repeat(600_000)}"}`, 'X-SMTPAPI', /at most 524288 bytes/],
  ['to as text', { to: 'a@b.example' }, 'to', /must be a list/],
  ['an entry of to that is no text', { to: ['a@b.example', 5] }, 'to[1]', /must be text/],
  ['more than 10,000 entries of to', { to: MANY }, 'to', /at most 10000/],
  ['sub as a list', { sub: ['a'] }, 'sub', /must be an object/],
  ['sub with text for a list', { sub: { '-a-': 'x' } }, 'sub.-a-', /must be a list/],
  ['sub with an object as value', { sub: { '-a-': ['x', {}] } }, 'sub.-a-[1]', /must be text/],
  ['section with a list as value', { section: { '-a-': [] } }, 'section.-a-', /must be text/],
  ['category as a number', { category: 5 }, 'category[0]', /must be text/],
  ['eleven categories', { category: [...'abcdefghijk'] }, 'category', /at most 10/],
  ['a category of 256 octets', { category: 'a'.repeat(256) }, 'category', /at most 255/],
  ['a category beyond ASCII', { category: ['a', 'Schön'] }, 'category[1]', /must be ASCII/],
  ['a category with a line end', { category: 'a\r\nb' }, 'category', /must be ASCII/],
  ['unique_args with an object as value', { unique_args: { a: {} } }, 'unique_args.a', /must be text/],
  ['unique_args of more than 10,000 octets', { unique_args: { a: 'ä'.repeat(5000) } }, 'unique_args', /at most 10000/],
  ['filters as text', { filters: 'x' }, 'filters', /must be an object/],
  ['a filter as text', { filters: { footer: 'x' } }, 'filters.footer', /must be an object/],
  [
    'enable as 2',
    { filters: { clicktrack: { settings: { enable: 2 } } } },
    'filters.clicktrack.settings.enable',
    /0 or 1/,
  ],
  [
    'a footer that is no text',
    { filters: { footer: { settings: { 'text/html': 5 } } } },
    'filters.footer.settings.text/html',
    /text/,
  ],
  [
    'a dynamic template',
    { filters: { templates: { settings: { template_id: `d-${'a'.repeat(32)}` } } } },
    'filters.templates.settings.template_id',
    /dynamic templates cannot/,
  ],
  [
    'a template id that is none',
    { filters: { templates: { settings: { template_id: 'x' } } } },
    'filters.templates.settings.template_id',
    /legacy/,
  ],
  ['send_at as text', { send_at: '1767614400' }, 'send_at', /whole number/],
  ['send_at with a fraction', { send_at: 1.5 }, 'send_at', /whole number/],
  ['send_at beyond every number', '{"send_at":1e400}', 'send_at', /whole number/],
  ['send_at more than 72 hours ahead', { send_at: SECONDS + 3 * DAY + 1 }, 'send_at', /72 hours/],
  [
    'send_at and send_each_at',
    { send_at: SECONDS, send_each_at: [SECONDS] },
    'send_at',
    /cannot be combined with send_each_at/,
  ],
  [
    'send_each_at for fewer than to',
    { to: ['a@b.example', 'c@d.example'], send_each_at: [SECONDS] },
    'send_each_at',
    /one time per entry/,
  ],
  ['send_each_at with text', { send_each_at: [SECONDS, 'x'] }, 'send_each_at[1]', /whole number/],
  ['batch_id as a number', { batch_id: 5 }, 'batch_id', /must be text/],
  ['asm_group_id as text', { asm_group_id: '5' }, 'asm_group_id', /whole number, without quotes/],
  ['26 groups to display', { asm_groups_to_display: Array(26).fill(1) }, 'asm_groups_to_display', /at most 25/],
  ['ip_pool as a list', { ip_pool: ['main'] }, 'ip_pool', /must be text/],
  ['__proto__ as a tag', '{"sub":{"__proto__":["x"]}}', 'sub.__proto__', /not allowed as a key/],
  ['a key with a line end', '{"section":{"a\\r\\nBcc: x":[]}}', 'section.a??Bcc: x', /must be text/],
]

for (const [what, value, path, problem] of WRONG) {
  t.test(`${what} is said to be wrong, by its path`, (t) => {
    const [first = []] = problems(value)
    t.equal(first[0], path)
    t.match(first[1], problem)
    t.end()
  })
}

t.test('all mistakes are told together, up to twenty', (t) => {
  t.strictSame(
    problems({ to: 5, category: {}, send_at: 'x' }).map(([path]) => path),
    ['to', 'send_at', 'category[0]'],
  )
  t.equal(problems({ to: Array(1000).fill(5) }).length, 20)
  t.end()
})

/** V25. */
const POLLUTING = [
  '{"__proto__":{"polluted":1,"to":["a@b.example"]}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"section":{"__proto__":"x"}}',
  '{"section":{"constructor":"x","prototype":"y","toString":"z"}}',
  '{"unique_args":{"__proto__":{"polluted":1}}}',
  '{"unique_args":{"constructor":"x"}}',
  '{"filters":{"__proto__":{"settings":{"enable":1}},"constructor":{"settings":{"enable":1}}}}',
  '{"filters":{"footer":{"__proto__":{"settings":{"enable":1}}}}}',
  '{"filters":{"footer":{"settings":{"__proto__":{"enable":1}}}}}',
  '{"sub":{"constructor":["x"],"hasOwnProperty":["y"]}}',
]

for (const value of POLLUTING) {
  t.test(`no prototype is reached by ${value}`, (t) => {
    const reading = atOnce(readSmtpApi(value, NOW))
    t.equal(({} as Record<string, unknown>).polluted, undefined)
    t.equal(({} as Record<string, unknown>).enable, undefined)
    if (reading.kind === 'wrong') return t.end()
    t.equal(reading.api.to, undefined)
    t.equal(reading.api.filters.footer?.enable, undefined)
    t.equal(Object.getPrototypeOf(reading.api), Object.prototype)
    t.end()
  })
}

t.test('substitutions named like members of every object are text', (t) => {
  const api = read('{"sub":{"constructor":["x"],"hasOwnProperty":["y"]}}')
  t.strictSame(Object.entries(substitutionsOf(api, 0)), [
    ['constructor', 'x'],
    ['hasOwnProperty', 'y'],
  ])
  t.end()
})

/** V20: what a name may not carry into a header field. */
for (const end of ['\r', '\n', '\r\n', '\u2028', '\u2029', '\u0085', '\0']) {
  t.test(`a recipient's name keeps no ${Buffer.from(end).toString('hex')}`, (t) => {
    const [lena] = read({ to: [`Lena${end}Bcc: x@harbor.example <lena@harbor.example>`] }).to ?? []
    t.strictSame(lena, { email: 'lena@harbor.example', name: 'Lena Bcc: x@harbor.example' })
    t.end()
  })
}

t.test(
  'the field is read as it comes: folded, escaped, in encoded words, whatever its case; the first one counts',
  (t) => {
    const header = (...lines: string[]): SmtpApi =>
      read(findSmtpApi(atOnce(splitHeader(Buffer.from(`${lines.join('\r\n')}\r\n\r\nbody`))).fields) ?? 'none')
    t.strictSame(header('X-SMTPAPI: {"category":', ' "berths",', '\t"to": ["lena@harbor.example"]}').categories, [
      'berths',
    ])
    t.strictSame(header('x-smtpapi: {"section":{"a":"Gr\\u00fc\\u00dfe"}}').section, new Map([['a', 'Grüße']]))
    t.strictSame(header('X-SMTPAPI: {"section":{"a":"Grüße"}}').section, new Map([['a', 'Grüße']]))
    const word = Buffer.from('{"section":{"a":"Grüße"}}').toString('base64')
    t.strictSame(header(`X-SmtpApi: =?utf-8?B?${word}?=`).section, new Map([['a', 'Grüße']]))
    t.strictSame(
      header('X-SMTPAPI: {"section":{"a":"first part', '\t', '\tsecond part"}}').section,
      new Map([['a', 'first part  second part']]),
    )
    t.strictSame(
      header('X-SMTPAPI: {"to":["=?UTF-8?Q?Zo=C3=AB_=22Z=22_\\?=', ' =?UTF-8?Q?Lee?= <zoe@harbor.example>"]}').to,
      [{ email: 'zoe@harbor.example', name: 'Zoë "Z" \\Lee' }],
    )
    // As a library writes it that encodes what is not ASCII between two blanks.
    t.strictSame(
      header('X-SMTPAPI: {"sub":{"-name-":["Anna =?UTF-8?Q?Zo=C3=AB=22=2C=22Bob?= Ray"]}}').sub,
      new Map([['-name-', ['Anna Zoë', 'Bob Ray']]]),
    )
    t.strictSame(header('X-SMTPAPI: {"category":"one"}', 'X-SMTPAPI: {"category":"two"}').categories, ['one'])
    t.equal(findSmtpApi(atOnce(splitHeader(Buffer.from('Subject: s\r\n\r\n'))).fields), undefined)
    t.end()
  },
)

/** V24. */
const FAMILIES: readonly (readonly [what: string, of: (size: number) => string])[] = [
  ['open lists', (n) => '['.repeat(n)],
  ['quotes', (n) => '"'.repeat(n)],
  ['hidden quotes', (n) => `"${'\\"'.repeat(n / 2)}`],
  ['backslashes', (n) => `{"${'\\'.repeat(n)}`],
  ['blanks', (n) => `${' '.repeat(n)}x${' '.repeat(n)}`],
  ['a name of quotes', (n) => JSON.stringify({ to: [`"${'\\"'.repeat(n / 4)} <a@b.example>`] })],
  ['a name of open brackets', (n) => JSON.stringify({ to: [`${'<'.repeat(n)}>`] })],
  ['a name of blanks', (n) => JSON.stringify({ to: [`a${' '.repeat(n)}b <a@b.example>`] })],
  ['a category of letters', (n) => JSON.stringify({ category: `${'a'.repeat(n)}ä` })],
  ['encoded words', (n) => '=?utf-8?Q?a?= '.repeat(n / 14)],
  ['encoded words in JSON', (n) => `{"category":"${'=?utf-8?Q?=22?= '.repeat(n / 16)}"}`],
  ['encoded words without end', (n) => '=?utf-8?Q?'.repeat(n / 10)],
  [
    'many keys',
    (n) => JSON.stringify({ section: Object.fromEntries(Array.from({ length: n / 12 }, (_, at) => [`k${at}`, ''])) }),
  ],
]

for (const [what, of] of FAMILIES) {
  t.test(`${what}: four times as much takes no more than six times as long, and 100 kB less than 100 ms`, (t) => {
    const texts = { 1: of(25_000), 4: of(100_000) }
    takesLinearTime(t, (times) => atOnce(readSmtpApi(texts[times], NOW)))
    t.end()
  })
}
