import { defaultProviders, type Provider, type Providers, ProvidersError, readProviders } from '@postrider/core'
import t from 'tap'
import { ReplyReader } from '../../../packages/delivery/src/smtp/reply-reader.ts'
import { processorTimeOf } from '../../helpers/pace.ts'
import { PROVIDER_REPLIES } from './provider-replies.ts'

const builtIn = defaultProviders()
const text = (said: string, enhanced = ''): { enhanced: string; text: string } => ({ enhanced, text: said })

/** A reply as the delivery worker reads it from the wire. */
function replyOf(wire: string): { enhanced: string; text: string } {
  for (const reply of new ReplyReader().push(Buffer.from(`${wire}\r\n`))) return reply
  throw new Error(`not a reply: ${wire}`)
}

/** A file with one provider whose rules are these lines. */
function withRules(...rules: string[]): Providers {
  const lines = rules.map((rule) => `      - ${rule}`)
  return readProviders(
    ['providers:', '  - name: one', '    mx: [.one.example]', '    rules:', ...lines].join('\n'),
    'f',
  )
}

t.test('a host belongs to the provider whose name it ends in, label by label', async (t) => {
  const found = (host: string) => builtIn.ofHost(host)?.name
  t.equal(found('x.google.com'), 'google')
  t.equal(found('alt1.gmail-smtp-in.l.google.com'), 'google')
  t.equal(found('hotmail-com.olc.protection.outlook.com'), 'outlook')
  t.equal(found('ship-example.mail.protection.outlook.com'), 'office365')
  t.equal(found('ship-example.p-v1.mx.microsoft'), 'office365')
  for (const host of [
    'google.com.evil.example',
    'evilgoogle.com',
    'x.evilgoogle.com',
    'google.com',
    'com',
    '',
    '.',
    '..',
  ])
    t.equal(found(host), undefined, host)
  t.equal(found(`${'a.'.repeat(200)}google.com`), undefined, 'no host has so long a name')
  t.equal(found(`${'.'.repeat(1_000_000)}google.com`), undefined)
  for (const name of ['__proto__', 'constructor', 'toString']) t.equal(builtIn.named(name), undefined)
})

t.test(
  'of several names that fit the longest counts, in whatever order they are written, and a host goes before all',
  async (t) => {
    const entries = ['a mx.one.example', 'b .one.example', 'c .deep.one.example', 'd host.deep.one.example']
    for (const order of [entries, [...entries].reverse()]) {
      const lines = order.map((entry) => `  - { name: ${entry.split(' ')[0]}, mx: ['${entry.split(' ')[1]}'] }`)
      const providers = readProviders(`providers:\n${lines.join('\n')}`, 'f')
      const hosts = [
        'mx.one.example',
        'x.mx.one.example',
        'x.one.example',
        'x.deep.one.example',
        'host.deep.one.example',
      ]
      t.strictSame(
        hosts.map((host) => providers.ofHost(host)?.name),
        ['a', 'b', 'b', 'c', 'd'],
      )
    }
  },
)

t.test('every rule of the built-in file is the one that counts for a reply of its provider', async (t) => {
  const ids = [...builtIn.all.flatMap(({ rules }) => rules), ...builtIn.generalRules].map(({ id }) => id)
  t.strictSame(Object.keys(PROVIDER_REPLIES).sort(), ids.sort(), 'a new rule has a reply in provider-replies.ts')
  for (const [id, [host, ...replies]] of Object.entries(PROVIDER_REPLIES)) {
    for (const wire of replies) t.equal(builtIn.ruleFor(builtIn.ofHost(host), replyOf(wire))?.id, id, wire)
  }
  for (const wire of ['550 5.1.1 User unknown', '451 4.7.1 Greylisted, try again', '452 4.2.2 Mailbox full', '421 Bye'])
    for (const provider of [undefined, ...builtIn.all]) t.equal(builtIn.ruleFor(provider, replyOf(wire)), undefined)
})

t.test(
  'every provider of the built-in file has a source with a date, and relay and sandbox are always there',
  async (t) => {
    const always = { mx: [], connections: 40, tlsRequired: false, rules: [] }
    for (const { name, source } of builtIn.all)
      if (name !== 'relay' && !name.startsWith('sandbox')) t.match(source, /\b20\d\d-\d\d-\d\d\b/, name)
    for (const providers of [builtIn, readProviders('rules: []', 'f')])
      for (const name of ['relay', 'sandbox']) t.strictSame(providers.named(name), { name, ...always })
    const changed = readProviders('providers:\n  - { name: relay, mx: [], connections: 5, rate: 14/s }', 'f')
    t.match(changed.named('relay'), { connections: 5, rate: { messages: 14, seconds: 1 } })
  },
)

t.test('an entry has its limits, durations and effects', async (t) => {
  const providers = readProviders(
    `providers:
  - name: one
    mx: [.ONE.example, mx.two.example]
    connections: 5
    messagesPerConnection: 50
    rate: 100/h
    tls: required
    source: here
    rules:
      - { id: a, reply: aaaa, pause: 24h, scope: account }
      - { id: b, reply: bbbb, rate: 6/min, for: 1s, times: 1000, within: 90s }
      - { id: c, reply: cccc, connections: 1, for: 15m, scope: provider }
      - { id: d, reply: dddd, messagesPerConnection: 2, for: 2h }
      - { id: e, enhanced: [4.7.28], halve: true, for: 30m }
      - { id: f, enhanced: 5.7.26, reply: ffff, finding: true, times: 3 }`,
    'f',
  )
  const { rules, ...limits } = providers.named('one') as Provider
  t.strictSame(limits, {
    name: 'one',
    mx: ['.one.example', 'mx.two.example'],
    tlsRequired: true,
    connections: 5,
    messagesPerConnection: 50,
    rate: { messages: 100, seconds: 3600 },
    source: 'here',
  })
  t.match(rules[0], { reply: ['aaaa'], enhanced: [] })
  t.match(rules[5], { reply: ['ffff'], enhanced: ['5.7.26'] })
  const by = { times: 1, within: 3600, scope: 'provider' }
  t.strictSame(
    rules.map(({ matches, reply, enhanced, ...rule }) => rule),
    [
      { ...by, id: 'a', effect: { kind: 'pause' }, lasts: 86_400, scope: 'account' },
      {
        ...by,
        id: 'b',
        effect: { kind: 'rate', rate: { messages: 6, seconds: 60 } },
        lasts: 1,
        times: 1000,
        within: 90,
      },
      { ...by, id: 'c', effect: { kind: 'connections', most: 1 }, lasts: 900 },
      { ...by, id: 'd', effect: { kind: 'messagesPerConnection', most: 2 }, lasts: 7200 },
      { ...by, id: 'e', effect: { kind: 'halve' }, lasts: 1800 },
      { ...by, id: 'f', effect: { kind: 'finding' }, lasts: 0, times: 3 },
    ],
  )
})

t.test(
  'a text is found anywhere in a reply, in any case, its pieces in their order, and nothing else in it is special',
  async (t) => {
    const fits = (pattern: string, said: string) =>
      withRules(`{ id: a, reply: '${pattern}', pause: 1m }`).named('one')?.rules[0]?.matches(text(said))
    t.ok(fits('Too MANY*from', 'xx too many CONNECTIONS FROM here'))
    t.ok(fits('too many*from', 'too manyfrom'))
    t.notOk(fits('too many*from', 'from too many'))
    t.notOk(fits('abcd*cdef', 'abcdef'), 'pieces do not overlap')
    t.ok(fits('*[BL*] x (a|b)+?*', 'xx [BL21] x (a|b)+? xx'))
    t.notOk(fits('a.cd', 'abcd'))
    t.ok(fits('ab* *cd', 'abx cd'))
  },
)

t.test('an enhanced code counts as the reply has it; the text is read only if the reply has none', async (t) => {
  const providers = withRules('{ id: a, enhanced: [4.7.28, 5.7.1], pause: 1m }')
  const fits = (said: string, enhanced = '') => providers.named('one')?.rules[0]?.matches(text(said, enhanced))
  for (const said of [
    '[4.7.28] slow down',
    '4.7.28: slow down',
    '4.7.28',
    '5.7.1[x]',
    '5.7.1. No',
    'no (5.7.1) no',
    'no #5.7.1',
    '[4.2.0] [5.7.1]',
  ])
    t.ok(fits(said), said)
  for (const said of ['from [4.7.28.1]', 'from 5.7.1.9', '4.7.281', '14.7.28', 'version 5.7.1 no', '4.7.2', '4.7'])
    t.notOk(fits(said), said)
  t.ok(fits('slow down', '4.7.28'))
  t.notOk(fits('[4.7.28] slow down', '4.2.0'))
  const both = withRules('{ id: a, enhanced: 5.7.1, reply: "list", pause: 1m }').named('one')?.rules[0]
  t.ok(both?.matches(text('on a list', '5.7.1')))
  t.notOk(both?.matches(text('on a list', '5.7.2')))
  t.notOk(both?.matches(text('on a page', '5.7.1')))
})

t.test("the provider's own rules go before the general ones, and each in its order", async (t) => {
  const providers = readProviders(
    `rules:
  - { id: g1, reply: 'busy', pause: 1m }
  - { id: g2, reply: 'very busy', pause: 1m }
providers:
  - { name: one, mx: [], rules: [{ id: own, reply: 'very busy', pause: 1m }] }`,
    'f',
  )
  t.equal(providers.ruleFor(providers.named('one'), text('very busy'))?.id, 'own')
  t.equal(providers.ruleFor(providers.named('one'), text('busy'))?.id, 'g1')
  t.equal(providers.ruleFor(undefined, text('very busy'))?.id, 'g1')
  t.equal(providers.ruleFor(undefined, text('fine')), undefined)
})

t.test('general rules do not apply to the sandbox and a relay host, their own rules do', async (t) => {
  const providers = readProviders(
    `rules: [{ id: general, reply: 'busy', pause: 1m }]
providers: [{ name: sandbox, mx: [], rules: [{ id: own, reply: 'very slow', pause: 1m }] }]`,
    'f',
  )
  t.equal(providers.ruleFor(providers.named('sandbox'), text('busy')), undefined)
  t.equal(providers.ruleFor(providers.named('sandbox'), text('very slow'))?.id, 'own')
  t.equal(providers.ruleFor(providers.named('relay'), text('busy')), undefined)
  t.equal(providers.ruleFor(undefined, text('busy'))?.id, 'general')
})

t.test('hostile texts take no longer than their length', async (t) => {
  const patterns = [`${'a'.repeat(40)}b`, `${'ab'.repeat(90)}c`, `${'a*'.repeat(5)}${'a'.repeat(180)}b`, '[bl*] x']
  const providers = withRules(...patterns.map((pattern, at) => `{ id: r${at}, reply: '${pattern}', pause: 1m }`))
  const rules = [...builtIn.all, ...providers.all].flatMap((provider) => provider.rules).concat(builtIn.generalRules)
  const size = 100_000
  const repeated = [
    'a',
    'a*',
    'ab',
    '[',
    '[BL',
    '[4.7.28',
    '(5.7.',
    '5.7.1 ',
    'temporarily deferre',
    'blocked usin',
    'spam',
  ].map((part) => part.repeat(size / part.length))
  for (const said of [...repeated, 'İ'.repeat(size / 2)]) {
    const runs: number[] = []
    for (let run = 0; run < 3; run++) {
      const reply = text(said)
      runs.push(
        await processorTimeOf(() => {
          for (const rule of rules) rule.matches(reply)
        }),
      )
    }
    t.ok(Math.min(...runs) < 50, `${said.slice(0, 20)}: ${Math.min(...runs)} ms`)
  }
})

t.test('readProviders throws an error that programs can tell from others', async (t) => {
  t.throws(() => readProviders('', 'the-file'), {
    name: 'ProvidersError',
    message: /^the-file, line 1: the file is empty/,
  })
  t.throws(() => readProviders('', 'f'), ProvidersError)
})
