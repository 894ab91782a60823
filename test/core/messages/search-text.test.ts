import { addToSearch, type MessageSearch, parseSearch, ServiceError } from '@postrider/core'
import t from 'tap'
import { ownCpu } from '../../helpers/turns.ts'

function problemOf(fn: () => unknown): string {
  try {
    fn()
  } catch (error) {
    if (error instanceof ServiceError) return `${error.values.parameter} ${error.values.problem}`
    throw error
  }
  return 'none'
}

t.test('every part of a search has its meaning', async (t) => {
  const rows: readonly (readonly [string, MessageSearch])[] = [
    ['', {}],
    [' \t\n', {}],
    ['to:Lena@Harbor.Example', { recipientKey: 'lena@harbor.example' }],
    ['TO:lena@harbor.example', { recipientKey: 'lena@harbor.example' }],
    ['lena@harbor.example', { recipientKey: 'lena@harbor.example' }],
    ['to:@Bücher.example', { recipientDomain: 'xn--bcher-kva.example' }],
    ['to:not-an-address', { recipientKey: 'not-an-address' }],
    ['from:Desk@ship.example', { from: 'desk@ship.example' }],
    ['from:@ship.example', { domain: 'ship.example' }],
    ['domain:ship.example', { domain: 'ship.example' }],
    ['state:bounced', { states: ['bounced'] }],
    ['state:Bounced,expired,bounced', { states: ['bounced', 'expired'] }],
    ['state:waiting', { states: ['scheduled', 'queued', 'sending', 'deferred'] }],
    ['state:failed', { states: ['bounced', 'dropped', 'expired'] }],
    ['subject:Berth', { subject: { text: 'Berth', isPrefix: false } }],
    ['subject:Ber*', { subject: { text: 'Ber', isPrefix: true } }],
    ['subject:"Your inv"*', { subject: { text: 'Your inv', isPrefix: true } }],
    ['subject:"Five *"', { subject: { text: 'Five *', isPrefix: false } }],
    ['subject:"a \\"b\\" \\\\ c\\d"', { subject: { text: 'a "b" \\ c\\d', isPrefix: false } }],
    ['subject:re:berth', { subject: { text: 're:berth', isPrefix: false } }],
    ['tag:"a b"', { tag: 'a b' }],
    ['tag:a*', { tag: 'a*' }],
    ['id:019b8d6a3c80700080000000000000A1', { messageId: '019b8d6a-3c80-7000-8000-0000000000a1' }],
    ['019b8d6a-3c80-7000-8000-0000000000a1', { messageId: '019b8d6a-3c80-7000-8000-0000000000a1' }],
    ['id:x', { messageId: '' }],
    ['door:SMTP', { door: 'smtp' }],
    ['has:attachment', { hasAttachment: true }],
    ['after:2026-11-20', { since: new Date('2026-11-20T00:00:00Z') }],
    ['before:2026-11-20T10:30', { until: new Date('2026-11-20T10:30:00Z') }],
    ['before:2026-11-20t10:30:05+02:00', { until: new Date('2026-11-20T08:30:05Z') }],
    ['before:2026-11-20T10:30:05.25+0200', { until: new Date('2026-11-20T08:30:05.250Z') }],
    ['to:a@b.example  state:queued\ttag:"x"', { recipientKey: 'a@b.example', states: ['queued'], tag: 'x' }],
  ]
  for (const [text, meaning] of rows) t.strictSame(parseSearch(text), meaning, text)
})

t.test('an error names the part that is wrong, and what to write', async (t) => {
  for (const [text, problem] of [
    ['berth', 'search berth has no key and is neither an address nor a message id; use for instance subject:berth'],
    ['"berth 4"', 'search "berth 4" has no key; use for instance subject:"…"'],
    [
      'colour:red',
      'search colour: is not a key; use to, from, state, subject, tag, id, domain, door, before, after, has',
    ],
    ['tag:a state:lost', /^search state:lost: must be one or several of scheduled, queued, .*, waiting, failed$/],
    ['state:', 'search state: has no value'],
    ['subject:""', 'search subject:"" has no value'],
    ['subject:*', 'search subject:* has no value'],
    ['subject:"Ber', 'search subject:"Ber: the closing quote is missing'],
    ['subject:"Ber"th', 'search subject:"Ber"t: a blank must follow the quote'],
    ['tag:"Ber"*', 'search tag:"Ber"*: only subject takes a beginning'],
    [
      'to:a@b.example to:c@d.example',
      'search to:c@d.example: the search has more than one condition of this kind; use one',
    ],
    ['from:@a.example domain:b.example', /^search domain:b\.example: the search has more than one/],
    ['domain:a..b', 'search domain:a..b: must be a domain name'],
    ['door:fax', 'search door:fax: must be v2 or v3 or smtp'],
    ['has:stamp', 'search has:stamp: must be attachment'],
    ['before:monday', /^search before:monday: must be a day or a time in ISO 8601, such as/],
    ['after:2026-02-31T99:00', /^search after:2026-02-31T99:00: must be a day or a time/],
    ['after:2026-02-31', /^search after:2026-02-31: must be a day or a time/],
    ['after:+999999-01-01', /must be a day or a time/],
    ['tag:a\0b', 'search tag:a\0b: must not contain NUL'],
    ['a'.repeat(2001), 'search must have at most 2000 characters'],
  ] as const) {
    const found = problemOf(() => parseSearch(text))
    if (typeof problem === 'string') t.equal(found, problem, text)
    else t.match(found, problem, text)
  }
  const long = problemOf(() => parseSearch('x'.repeat(2000)))
  t.ok(long.length < 300, 'a long part is not repeated whole')
})

t.test('a parameter of its own adds to a search, with its own name in errors', async (t) => {
  t.strictSame(addToSearch(parseSearch('tag:a'), 'state', 'queued'), { tag: 'a', states: ['queued'] })
  t.strictSame(addToSearch({}, 'subject', '"Ber" *', true), { subject: { text: '"Ber" *', isPrefix: true } })
  t.equal(
    problemOf(() => addToSearch({}, 'door', 'fax')),
    'door must be v2 or v3 or smtp',
  )
  t.match(
    problemOf(() => addToSearch({ tag: 'a' }, 'tag', 'b')),
    /^tag the search has more than one condition/,
  )
  t.equal(
    problemOf(() => addToSearch({}, 'subject', 'x'.repeat(1001))),
    'subject must have at most 1000 characters',
  )
})

t.test('the worst search of the longest length takes less than five milliseconds', async (t) => {
  for (const text of [
    '"'.repeat(2000),
    `subject:"${'\\'.repeat(1990)}`,
    'a:'.repeat(1000),
    ' '.repeat(2000),
    'id:'.repeat(600),
    `before:${'1'.repeat(1990)}`,
  ]) {
    const began = ownCpu()
    problemOf(() => parseSearch(text))
    t.ok(ownCpu() - began < 50, text.slice(0, 20))
  }
})
