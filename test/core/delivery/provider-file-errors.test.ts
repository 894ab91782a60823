import { readProviders } from '@postrider/core'
import t from 'tap'

/** The lines of an entry, and the error with its line. */
type Row = readonly [content: string, error: RegExp]

const rule = (rest: string, error: RegExp): Row => [`rules:\n  - id: a\n    reply: some text\n${rest}`, error]
const provider = (rest: string, error: RegExp): Row => [
  `providers:\n  - name: one\n    mx: [.one.example]\n${rest}`,
  error,
]
const mx = (value: string, error: RegExp): Row => [
  `providers:\n  - name: one\n    connections: 1\n    mx: ${value}`,
  error,
]
const reply = (value: string, error: RegExp): Row => [`rules:\n  - id: a\n    pause: 1h\n    reply: ${value}`, error]
const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')

const KINDS: Readonly<Record<string, readonly Row[]>> = {
  'YAML syntax': [
    ['providers:\n  - name: [', /^line [23]: not valid YAML: /],
    ['rules:\n\t- id: a', /^line 2: not valid YAML: /],
    ['rules: []\n---\nrules: []', /^line 2: remove the line "---"/],
    ['rules:\n  - id: !secret a', /^line 2: not valid YAML: Unresolved tag/],
    ['', /^line 1: the file is empty/],
    ['\n# nothing\n', /^line 1: the file is empty/],
    ['['.repeat(5000), /^line 1: /],
    [`rules: ${'[a, '.repeat(20)}${']'.repeat(20)}`, /^line 1: nested too deeply/],
    [`# ${'x'.repeat(1024 * 1024)}`, /^line 1: the file is larger than 1 MiB/],
  ],
  'an anchor or alias': [
    ['rules:\n  - &one\n    id: a', /^line 3: remove the anchor &one/],
    ['rules: &r []\nproviders: *r', /^line 1: remove the anchor &r/],
    [
      `rules: &a [x]\n${many(30, (at) => `k${at}: [*a, *a, *a, *a, *a, *a, *a, *a, *a]`)}`,
      /^line 1: remove the anchor/,
    ],
    reply('*busy', /^line 4: a text that begins with \* must be in quotes/),
  ],
  'an unknown key': [
    ['rule: []', /^line 1: unknown key "rule" in the file; use providers, rules$/],
    provider('    conections: 5', /^line 4: unknown key "conections" in a provider; use name, mx, connections,/),
    rule('    pause: 1h\n    stage: data', /^line 5: unknown key "stage" in a rule; use id, reply/),
    rule('    pause: 1h\n    <<: { times: 2 }', /^line 5: unknown key "<<"/),
    rule('    pause: 1h\n    __proto__: 1', /^line 5: unknown key "__proto__"/),
  ],
  'a key that is missing': [
    ['providers:\n  - mx: []', /^line 2: a provider must have the key "name"/],
    ['providers:\n  - name: one', /^line 2: a provider must have the key "mx"; write \[\] if it has no hosts/],
    ['rules:\n  - reply: some text\n    pause: 1h', /^line 2: a rule must have the key "id"/],
    ['rules:\n\n  - id: a\n    pause: 1h', /^line 3: a rule must have "reply" with a text, or "enhanced"/],
    reply('[]', /^line 4: a rule must have "reply"/),
  ],
  'a wrong type': [
    ['- a', /^line 1: the file must have keys: providers, rules/],
    ['providers:\n  one: {}', /^line 2: "providers" must be a list; write \[\] for an empty one/],
    ['rules:', /^line 1: "rules" must be a list/],
    ['providers:\n  - google', /^line 2: a provider must have keys: name, /],
    [
      'providers:\n  - name: 163\n    mx: []',
      /^line 2: "name" must be text, in quotes if it is a number .* \(got 163\)/,
    ],
    provider('    connections: many', /^line 4: "connections" must be a whole number from 1 to 10000 \(got "many"\)/),
    provider('    connections: "5"', /^line 4: "connections" must be a whole number/),
    provider('    connections: [5]', /^line 4: "connections" must be a whole number .* \(got a list\)/),
    provider('    connections:', /^line 4: "connections" must be a whole number .* \(got null\)/),
    provider('    source: [a]', /^line 4: "source" must be text/),
    provider('    contact: http://a.example', /^line 4: "contact" must be an https URL \(got "http:/),
    provider('    contact: "https://[a"', /^line 4: "contact" must be an https URL/),
    provider('    tls: true', /^line 4: "tls" must be required \(got true\)/),
    mx('[7]', /^line 4: "mx" must be text/),
    mx('[{ a: b }]', /^line 4: "mx" must be text/),
    reply('""', /^line 4: "reply" must be text/),
    rule('    halve: yes', /^line 4: "halve" must be true \(got "yes"\)/),
    rule('    finding: false', /^line 4: "finding" must be true \(got false\); otherwise remove it/),
  ],
  'a number out of bounds': [
    provider('    connections: 0', /^line 4: "connections" must be a whole number from 1 to 10000 \(got 0\)/),
    provider('    messagesPerConnection: 10001', /^line 4: "messagesPerConnection" must be/),
    provider('    connections: 1.5', /^line 4: /),
    provider('    connections: .nan', /^line 4: /),
    rule('    pause: 1h\n    times: 1001', /^line 5: "times" must be a whole number from 1 to 1000 /),
    rule('    pause: 1h\n    times: 0', /^line 5: /),
    rule('    for: 1h\n    connections: 0', /^line 5: /),
  ],
  'a duration or rate': [
    rule(
      '    pause: 2d',
      /^line 4: "pause" must be a number followed by s, m or h, such as 30m, from 1s to 24h \(got "2d"\)/,
    ),
    ...['25h', '86401s', '0s', '30', '1.5h', '-1h', '1 h', '1H', '30min', '1constructor', '', '[1h]'].map((value) =>
      rule(`    pause: ${value}`, /^line 4: "pause" must be a number followed by/),
    ),
    rule('    pause: 1h\n    within: 25h', /^line 5: "within" must be/),
    rule('    rate: 1/s\n    for: soon', /^line 5: "for" must be/),
    ...['10', '10/m', '10/day', '0/s', '1000001/h', '1.5/s', '/s', '10 /s', '10/toString'].map((value) =>
      provider(`    rate: ${value}`, /^line 4: "rate" must be messages per s, min or h, such as 10\/min/),
    ),
  ],
  'two effects, or none': [
    rule(
      '    pause: 1h\n    halve: true\n    for: 1h',
      /^line 5: a rule has one effect; write a second rule, or remove pause or halve/,
    ),
    rule('    finding: true\n    connections: 1', /^line 4: a rule has one effect; .* remove connections or finding/),
    rule('    times: 2', /^line 2: a rule must have an effect: one of pause, rate,/),
  ],
  'for and scope where they do not belong': [
    rule('    halve: true', /^line 2: a rule must have the key "for"/),
    rule('    pause: 1h\n    for: 1h', /^line 5: "pause" already has the duration; remove "for"/),
    rule('    finding: true\n    for: 1h', /^line 5: a finding slows nothing; remove "for"/),
    rule('    rate: 1/s\n    for: 1h\n    scope: account', /^line 6: only "pause" can apply to an account/),
    rule('    pause: 1h\n    scope: domain', /^line 5: "scope" must be provider or account \(got "domain"\)/),
  ],
  'something that is given twice': [
    provider('    name: two', /^line 4: the key "name" is given twice/),
    ['rules: []\nrules: []', /^line 2: the key "rules" is given twice/],
    provider('  - name: one\n    mx: []', /^line 4: "one" is already used in line 2; it must be unique/),
    provider(
      '  - name: two\n    mx: [.two.example, .ONE.example]',
      /^line 5: "\.one\.example" is already used in line 3 of provider one;/,
    ),
    mx('\n      - a.example\n      - a.example', /^line 6: "a\.example" is already used in line 5 of provider one/),
    provider(
      '    rules:\n      - { id: a, reply: text, pause: 1h }\nrules:\n  - { id: a, reply: text, pause: 1h }',
      /^line 5: "a" is already used in line 7/,
    ),
  ],
  'a name or id': [
    ['providers:\n  - name: Google\n    mx: []', /^line 2: "name" must be 1 to 40 of a-z, 0-9 and -/],
    [`providers:\n  - name: ${'a'.repeat(41)}\n    mx: []`, /^line 2: "name" must be/],
    ['rules:\n  - id: a_b', /^line 2: "id" must be 1 to 40 of a-z, 0-9 and -/],
  ],
  'an mx': [
    mx('[.com]', /^line 4: ".com" fits too many hosts; write at least two labels, such as \.google\.com/),
    mx('[localhost]', /^line 4: "localhost" fits too many hosts/),
    ...[
      '*.google.com',
      '.',
      '..google.com',
      'google.com.',
      'a b.example',
      'm\u00fcnchen.example',
      `${'a'.repeat(64)}.example`,
    ].map((name) => mx(`['${name}']`, /^line 4: "mx" must be host names, or suffixes such as \.google\.com/)),
    mx(`['${'a.'.repeat(127)}example']`, /^line 4: "mx" must be host names/),
  ],
  'a pattern': [
    ...['rate\\d+', '^rate', 'limited$', 'rate.*limit', '\\[TS02\\]'].map((pattern) =>
      reply(
        `'${pattern}'`,
        /^line 4: ".*" looks like a regular expression; patterns are plain text in which \* stands for any/,
      ),
    ),
    ...['abc', 'a*b*c', '****', 'a b c', '[a]'].map((pattern) =>
      reply(`'${pattern}'`, /^line 4: ".*" fits too many replies; write at least 4 characters besides \* and spaces/),
    ),
    reply(`'${'a'.repeat(201)}'`, /^line 4: a pattern must have at most 200 characters/),
    reply("'a*b*c*d*e*f*g'", /^line 4: "a\*b\*c\*d\*e\*f\*g" must have at most 5 \*/),
    reply('"two\\nlines"', /^line 4: "two\\nlines" must be one line/),
    reply('\n      - good text\n      - bad', /^line 6: "bad" fits too many replies/),
    ['rules:\n  - id: a\n    pause: 1h\n    enhanced: 5.7', /^line 4: "enhanced" must be text/],
    [
      'rules:\n  - id: a\n    pause: 1h\n    enhanced: [5.7.1, 3.7.1]',
      /^line 4: "enhanced" must be codes such as 5\.7\.26 \(got "3\.7\.1"\)/,
    ],
  ],
  'more entries than there may be': [
    [
      `providers:\n${many(1001, (at) => `  - { name: p${at}, mx: [] }`)}`,
      /^line 1002: "providers" must have at most 1000 entries \(got 1001\)/,
    ],
    [
      `rules:\n${many(201, (at) => `  - { id: r${at}, reply: text, pause: 1h }`)}`,
      /^line 202: "rules" must have at most 200 entries/,
    ],
    provider(
      `    rules:\n${many(201, (at) => `      - { id: r${at}, reply: text, pause: 1h }`)}`,
      /^line 205: "rules" must have at most 200/,
    ),
    reply(
      `[${many(51, () => 'text,').replaceAll('\n', '')}]`,
      /^line 4: "reply" must have at most 50 entries \(got 51\)/,
    ),
  ],
}

function errorOf(content: string): string {
  try {
    readProviders(content, 'a/file.yaml')
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}

for (const [kind, rows] of Object.entries(KINDS)) {
  t.test(`readProviders names the line of ${kind} that is wrong, and says what to write`, async (t) => {
    for (const [content, error] of rows) {
      const [file, ...problem] = errorOf(content).split(', ')
      t.equal(file, 'a/file.yaml', content.slice(0, 300))
      t.match(problem.join(', '), error, content.slice(0, 300))
    }
  })
}

t.test('values at their bounds are accepted', async (t) => {
  const rows = [
    provider('    connections: 10000\n    rate: 1000000/h', /x/),
    rule('    pause: 86400s\n    times: 1000\n    within: 1s', /x/),
    reply(`'*${'a'.repeat(195)}****'`, /x/),
    reply('[ab*cd, "[BL*]"]', /x/),
    mx('["xn--mnchen-3ya.example", _a.b-c.example]', /x/),
    ['providers: []\nrules: []', /x/],
  ] as const
  for (const [content] of rows) t.equal(errorOf(content), 'accepted', content)
})
