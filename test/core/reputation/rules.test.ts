import t from 'tap'
import { figuresOf, type HourCounts } from '../../../packages/core/src/reputation/figures.ts'
import { type Judged, judge, judgeRecovery } from '../../../packages/core/src/reputation/rules.ts'

const NOW = new Date('2026-03-04T12:30:00Z')
const hour = (hoursAgo: number, counts: Partial<HourCounts>): HourCounts => ({
  hour: new Date(Date.parse('2026-03-04T12:00:00Z') - hoursAgo * 3_600_000),
  ...{ accepted: 0, delivered: 0, hard: 0, complained: 0 },
  ...counts,
})

function judged(hours: readonly HourCounts[], more: Partial<Judged> = {}): Judged {
  return { figures: figuresOf(hours, NOW), rules: 'standard', complaints: undefined, isBulkHeld: false, ...more }
}
const levels = (of: Judged) => judge(of).map(({ rule, level, classes }) => [rule, level, [...classes]])

t.test('hard bounces warn, slow and hold at 4, 6 and 10 % of the outcomes of a day', async (t) => {
  // Five hours ago, so that none of them is a storm.
  const of = (hard: number) => judged([hour(5, { delivered: 1000 - hard, hard })])
  t.strictSame(levels(of(39)), [])
  t.strictSame(levels(of(40)), [['bounces', 'warned', []]])
  t.strictSame(levels(of(60)), [['bounces', 'slowed', [1, 2]]])
  t.strictSame(levels(of(100)), [['bounces', 'held', [2]]])
  t.strictSame(levels({ ...of(20), rules: 'strict' }), [['bounces', 'warned', []]], 'strict halves the limits')
  t.strictSame(levels({ ...of(50), rules: 'strict' }), [['bounces', 'held', [2]]])
  t.strictSame(levels({ ...of(500), rules: 'none' }), [['bounces', 'warned', []]], 'none only warns')
})

t.test('few outcomes say nothing', async (t) => {
  t.strictSame(levels(judged([hour(5, { delivered: 160, hard: 39 })])), [])
  t.strictSame(levels(judged([hour(5, { delivered: 161, hard: 39 })])), [['bounces', 'held', [2]]])
  t.strictSame(levels(judged([hour(5, { delivered: 300, hard: 19 })])), [], 'nor do fewer than 20 bounces')
})

t.test('the last 1000 outcomes count if a day had fewer', async (t) => {
  const quiet = [hour(2, { delivered: 10 }), hour(30, { delivered: 400, hard: 100 }), hour(60, { delivered: 600 })]
  t.match(judge(judged(quiet)), [{ rule: 'bounces', level: 'slowed', figures: { bounces: 100, outcomes: 1110 } }])
  t.strictSame(levels(judged([hour(2, { delivered: 1000 }), ...quiet.slice(1)])), [], 'not the ones before them')
})

t.test('normal mail is held, too, if bounces go on for an hour while bulk mail is held', async (t) => {
  const hours = [hour(0, { delivered: 100, hard: 30 }), hour(5, { delivered: 400, hard: 100 })]
  t.strictSame(levels(judged(hours)), [['bounces', 'held', [2]]])
  t.strictSame(levels(judged(hours, { isBulkHeld: true })), [['bounces', 'held', [1, 2]]])
  t.strictSame(levels(judged(hours.slice(1), { isBulkHeld: true })), [['bounces', 'held', [2]]])
})

t.test('fifty unknown recipients within an hour hold all mail, if they are a tenth', async (t) => {
  const rules = (...hours: HourCounts[]) => judge(judged(hours)).map(({ rule }) => rule)
  t.match(judge(judged([hour(0, { delivered: 450, hard: 50 })]))[0], {
    ...{ rule: 'unknown-recipients', level: 'held', classes: [0, 1, 2] },
    figures: { bounces: 50, outcomes: 500, share: 0.1 },
  })
  t.strictSame(rules(hour(0, { delivered: 441, hard: 49 })), ['bounces'], '49 are not enough')
  t.strictSame(rules(hour(0, { delivered: 1300, hard: 50 })), [], 'nor is less than a tenth')
  t.strictSame(
    rules(hour(1, { delivered: 900, hard: 100 })),
    ['unknown-recipients', 'bounces'],
    'half of the hour before',
  )
  t.strictSame(rules(hour(1, { delivered: 882, hard: 98 })), ['bounces'], 'and no more than half')
})

t.test('ten times the mail of the busiest hour of a week slows an account to twice that hour', async (t) => {
  const history = [hour(50, { accepted: 700 }), hour(100, { accepted: 300 }), hour(170, { accepted: 5 })]
  const of = (accepted: number) => judged([hour(0, { accepted }), ...history])
  t.strictSame(levels(of(7000)), [])
  t.match(judge(of(7001)), [{ rule: 'sudden-volume', level: 'slowed', classes: [1, 2], rate: 1400 }])
  const small = judged([hour(0, { accepted: 1001 }), hour(50, { accepted: 10 }), hour(170, {})])
  t.match(judge(small), [{ rule: 'sudden-volume', rate: 1000 }], 'not slower than what is never too much')
  t.strictSame(
    levels(judged([hour(0, { accepted: 90_000 }), hour(100, { accepted: 10 })])),
    [],
    'a new account has no usual volume',
  )
})

t.test('complaints are compared with the deliveries to those who report them', async (t) => {
  const of = (complained: number, delivered: number) =>
    judged([hour(0, { delivered: 90_000 })], { complaints: { complained, delivered } })
  t.strictSame(levels(of(4, 10)), [], 'four say nothing')
  t.strictSame(levels(of(5, 5001)), [])
  t.strictSame(levels(of(5, 5000)), [['complaints', 'warned', []]])
  t.match(judge(of(9, 3000)), [{ level: 'slowed', rate: 45_000 }])
  t.strictSame(levels(of(10, 2000)), [['complaints', 'held', [2]]])
  t.match(judge(of(5, 0)), [{ level: 'held', figures: { share: 1 } }], 'also if no delivery is known')
})

t.test('a hold keeps its reason until the figures are below half of the first limit', async (t) => {
  const of = (hard: number) => judgeRecovery(judged([hour(5, { delivered: 10_000 - hard, hard })]))
  t.equal(of(200).length, 1)
  t.equal(of(199).length, 0)
})
