import { addSubjectBeginning, addToSearch, type MessageSearch, parseSearch, SearchError } from '@postrider/core'
import t from 'tap'
import { fold } from '../../../packages/core/src/messages/search/fold.ts'
import { ownCpu } from '../../helpers/turns.ts'

const CLOCK = { now: new Date('2026-11-20T12:00:00Z'), timeZone: 'Europe/Berlin' }

function problemOf(fn: () => unknown): string {
  try {
    fn()
  } catch (error) {
    if (error instanceof SearchError) return `${error.values.parameter} ${error.values.problem}`
    throw error
  }
  return 'none'
}

const words = (field: string, text: string, more = {}) => ({ words: [{ field, text, isWhole: false, ...more }] })
const any = (text: string, more = {}) => words('any', text, more)

t.test('every part of a search has its meaning', async (t) => {
  const id = '019b8d6a-3c80-7000-8000-0000000000a1'
  const rows: readonly (readonly [string, unknown])[] = [
    ['', {}],
    [' \t\n', {}],
    ['Rechnung', any('rechnung')],
    ['Müller', any('muller')],
    ['Mueller', any('muller')],
    ['Straße', any('strasse')],
    ['ÉCOLE*', any('ecole')],
    ['"Your invoice"', any('your invoice', { isWhole: true })],
    ['„Ihre Rechnung“', any('ihre rechnung', { isWhole: true })],
    ['"Your inv"*', any('your inv')],
    ['order-9001', any('order 9001')],
    ['Re: Berth', { words: [...any('re').words, ...any('berth').words] }],
    ['10:30', any('10 30')],
    ['https://ship.example/4', any('https ship example 4')],
    ['-Berth', { not: [any('berth')] }],
    ['-state:bounced -"a b"', { not: [{ states: ['bounced'] }, any('a b', { isWhole: true })] }],
    [
      'lena@harbor.example',
      any('lena harbor example', { isHeader: true, names: { recipientKey: 'lena@harbor.example' } }),
    ],
    ['lena@harb', any('lena harb', { isHeader: true })],
    [id, any('019b8d6a 3c80 7000 8000 0000000000a1', { names: { messageId: id } })],
    [
      `<${id.replaceAll('-', '')}.0@ship.example>`,
      any('019b8d6a3c80700080000000000000a1 0 ship example', { isHeader: true, names: { messageId: id } }),
    ],
    ['17676078720000004', any('17676078720000004', { names: { transactionNumber: '17676078720000004' } })],
    ['to:Lena@Harbor.Example', { recipientKey: 'lena@harbor.example' }],
    ['TO: lena@harbor.example', { recipientKey: 'lena@harbor.example' }],
    ['to:@Bücher.example', { recipientDomain: 'xn--bcher-kva.example' }],
    ['to:vip*', words('to', 'vip')],
    ['to:lena', words('to', 'lena')],
    ['to:lena@harb', words('to', 'lena harb')],
    ['from:Desk@ship.example', { from: 'desk@ship.example' }],
    ['from:@ship.example', { domain: 'ship.example' }],
    ['from:desk', words('from', 'desk')],
    ['domain:ship.example', { domain: 'ship.example' }],
    ['state:bounced', { states: ['bounced'] }],
    ['state:Bounced,expired,bounced', { states: ['bounced', 'expired'] }],
    ['state:waiting', { states: ['scheduled', 'queued', 'sending', 'deferred'] }],
    ['state:failed', { states: ['bounced', 'dropped', 'expired'] }],
    ['state:opened,bounced', { states: ['bounced'], met: ['opened'] }],
    ['subject:Ber*', words('subject', 'ber')],
    ['subject: Berth', words('subject', 'berth')],
    ['subject:"a \\"b\\" \\\\ c\\d"', words('subject', 'a b c d', { isWhole: true })],
    ['tag:a*', words('tag', 'a')],
    ['ref:9001', words('reference', '9001')],
    ['id:019b8d6a3c80700080000000000000A1', { messageId: id }],
    ['id:x', { messageId: '' }],
    ['id:<a.b@c.example>', words('header', 'a b c example', { isWhole: true })],
    ['door:SMTP', { door: 'smtp' }],
    ['has:attachment', { hasAttachment: true }],
    ['after:1h', { since: new Date('2026-11-20T11:00:00Z') }],
    ['after:2d', { since: new Date('2026-11-18T12:00:00Z') }],
    ['before:yesterday', { until: new Date('2026-11-18T23:00:00Z') }],
    ['after:heute', { since: new Date('2026-11-19T23:00:00Z') }],
    ['after:2026-11-20', { since: new Date('2026-11-19T23:00:00Z') }],
    ['after:2026-07-20', { since: new Date('2026-07-19T22:00:00Z') }],
    ['before:2026-11-20T10:30', { until: new Date('2026-11-20T09:30:00Z') }],
    ['before:2026-11-20t10:30:05+02:00', { until: new Date('2026-11-20T08:30:05Z') }],
    ['before:2026-11-20T10:30:05.25Z', { until: new Date('2026-11-20T10:30:05.250Z') }],
    ['to:a@b.example  state:queued\tx', { recipientKey: 'a@b.example', states: ['queued'], ...any('x') }],
  ]
  for (const [text, meaning] of rows) t.strictSame(parseSearch(text, CLOCK), meaning, text)
  t.strictSame(parseSearch('after:2026-11-20'), { since: new Date('2026-11-20T00:00:00Z') }, 'of no account, UTC')
})

t.test('an error names the part that is wrong, and what to write', async (t) => {
  const keys = 'to, from, state, subject, tag, ref, id, domain, door, before, after, has'
  for (const [text, problem] of [
    ['berth *', 'search * has no letter and no digit to look for'],
    ['berth --', 'search -- has no letter and no digit to look for'],
    ['colour:red', `search colour: is not a key; use ${keys}, or put the text in quotes`],
    [
      'tag:a state:lost',
      /^search state:lost: must be one or several of scheduled, queued, .*, complained, waiting, failed$/,
    ],
    ['state:', 'search state: has no value'],
    ['to: from:a', 'search to: has no value'],
    ['subject:""', 'search subject:"" has no value'],
    ['subject:*', 'search subject:* has no value'],
    ['subject:…', 'search subject:… has no letter and no digit to look for'],
    ['subject:"Ber', 'search subject:"Ber: the closing quote is missing'],
    ['subject:"Ber"th', 'search subject:"Ber"t: a blank must follow the quote'],
    ['state:queu*', 'search state:queu*: does not take a beginning; leave out the *'],
    [
      'to:a@b.example to:c@d.example',
      'search to:c@d.example: the search has more than one condition of this kind; use one',
    ],
    ['from:@a.example domain:b.example', /^search domain:b\.example: the search has more than one/],
    ['domain:a..b', 'search domain:a..b: must be a domain name'],
    ['door:fax', 'search door:fax: must be v2 or v3 or smtp'],
    ['has:stamp', 'search has:stamp: must be attachment'],
    ['before:monday', /^search before:monday: must be a time such as 2h, 3d, today/],
    ['after:2026-02-31', /^search after:2026-02-31: must be a time/],
    ['after:999999999d', /must be a time/],
    ['after:+999999-01-01', /must be a time/],
    ['-after:2d', 'search -after:2d: cannot be excluded; leave out the -'],
    ['tag:a\0b', 'search tag:a\0b: must not contain NUL'],
    ['a'.repeat(2001), 'search must have at most 2000 characters'],
    ['a '.repeat(41), 'search must have at most 40 parts'],
  ] as const) {
    const found = problemOf(() => parseSearch(text))
    if (typeof problem === 'string') t.equal(found, problem, text)
    else t.match(found, problem, text)
  }
  const long = problemOf(() => parseSearch(`state:${'x'.repeat(1990)}`))
  t.ok(long.length < 300, 'a long part is not repeated whole')
})

t.test('a parameter of its own adds to a search, with its own name in errors', async (t) => {
  const tag: MessageSearch = parseSearch('tag:a')
  t.strictSame(addToSearch(tag, 'state', 'queued'), { ...words('tag', 'a'), states: ['queued'] })
  t.strictSame(addToSearch(tag, 'tag', 'b*'), { words: [...words('tag', 'a').words, ...words('tag', 'b').words] })
  t.strictSame(addSubjectBeginning({}, 'subject_prefix', 'Ber'), { subjectBegins: 'Ber' })
  t.equal(
    problemOf(() => addToSearch({}, 'door', 'fax')),
    'door must be v2 or v3 or smtp',
  )
  t.match(
    problemOf(() => addToSearch({ door: 'v2' }, 'door', 'v3')),
    /^door the search has more than one condition/,
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
    'to: '.repeat(500),
    '-'.repeat(2000),
    'ﷺ'.repeat(2000),
    `before:${'1'.repeat(1990)}`,
  ]) {
    const began = ownCpu()
    problemOf(() => parseSearch(text))
    t.ok(ownCpu() - began < 50, text.slice(0, 20))
  }
})

t.test('a text of letters that stand for many is no longer than others once it is folded', (t) => {
  t.equal(fold('ﷺ'.repeat(5000)).length <= 2000, true)
  t.equal(fold('x'.repeat(5000)).length, 2000)
  t.end()
})
