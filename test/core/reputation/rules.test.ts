import t from 'tap'
import { figuresOf, type HourCounts } from '../../../packages/core/src/reputation/figures.ts'
import { applyRecoveryRules, applyRules, type Evaluated } from '../../../packages/core/src/reputation/rules.ts'

const NOW = new Date('2026-03-04T12:30:00Z')
const hour = (hoursAgo: number, counts: Partial<HourCounts>): HourCounts => ({
  hour: new Date(Date.parse('2026-03-04T12:00:00Z') - hoursAgo * 3_600_000),
  accepted: 0,
  delivered: 0,
  hard: 0,
  complained: 0,
  ...counts,
})

function evaluated(hours: readonly HourCounts[], more: Partial<Evaluated> = {}): Evaluated {
  return {
    figures: figuresOf(hours, NOW),
    rules: 'standard',
    complaints: undefined,
    deferrals: [],
    isBulkHeld: false,
    ...more,
  }
}
const levels = (of: Evaluated) => applyRules(of).map(({ rule, level, classes }) => [rule, level, [...classes]])

t.test('hard bounces warn, slow and hold at 4, 6 and 10 % of the outcomes of a day', async (t) => {
  // Five hours ago, so that none of them is a storm.
  const of = (hard: number) => evaluated([hour(5, { delivered: 1000 - hard, hard })])
  t.strictSame(levels(of(39)), [])
  t.strictSame(levels(of(40)), [['bounces', 'warned', []]])
  t.strictSame(levels(of(60)), [['bounces', 'slowed', [1, 2]]])
  t.strictSame(levels(of(100)), [['bounces', 'held', [2]]])
  t.strictSame(levels({ ...of(20), rules: 'strict' }), [['bounces', 'warned', []]], 'strict halves the limits')
  t.strictSame(levels({ ...of(50), rules: 'strict' }), [['bounces', 'held', [2]]])
  t.strictSame(levels({ ...of(500), rules: 'none' }), [['bounces', 'warned', []]], 'none only warns')
})

t.test('a provider that defers a fifth of the attempts causes a warning, with its share', async (t) => {
  const of = (...deferrals: Evaluated['deferrals']) => evaluated([hour(0, { delivered: 1000 })], { deferrals })
  const at = (provider: string, deferred: number, attempts: number) => ({ provider, deferred, attempts })
  t.strictSame(levels(of(at('google', 199, 1000))), [])
  t.strictSame(levels(of(at('google', 200, 1000))), [['policy-deferrals', 'warned', []]])
  t.strictSame(levels(of(at('google', 49, 200))), [], 'few deferrals say nothing')
  t.strictSame(levels(of(at('google', 50, 199))), [], 'nor do few attempts')
  t.strictSame(levels(of(at('google', 1000, 1000))), [['policy-deferrals', 'warned', []]], 'nothing is slowed')
  t.match(applyRules(of(at('google', 300, 1000), at('yahoo', 10, 5000), at('icloud', 100, 200))), [
    { figures: { deferred: 400, attempts: 1200, google: 0.3, icloud: 0.5 } },
  ])
  t.strictSame(levels({ ...of(at('google', 100, 1000)), rules: 'strict' }), [['policy-deferrals', 'warned', []]])
  t.equal(applyRecoveryRules(of(at('google', 100, 1000))).length, 1, 'until it is less than a tenth')
  t.equal(applyRecoveryRules(of(at('google', 99, 1000))).length, 0)
})

t.test('few outcomes say nothing', async (t) => {
  t.strictSame(levels(evaluated([hour(5, { delivered: 160, hard: 39 })])), [])
  t.strictSame(levels(evaluated([hour(5, { delivered: 161, hard: 39 })])), [['bounces', 'held', [2]]])
  t.strictSame(levels(evaluated([hour(5, { delivered: 300, hard: 19 })])), [], 'nor do fewer than 20 bounces')
})

t.test('the last 1000 outcomes count if a day had fewer', async (t) => {
  const quiet = [hour(2, { delivered: 10 }), hour(30, { delivered: 400, hard: 100 }), hour(60, { delivered: 600 })]
  t.match(applyRules(evaluated(quiet)), [
    { rule: 'bounces', level: 'slowed', figures: { bounces: 100, outcomes: 1110 } },
  ])
  t.strictSame(levels(evaluated([hour(2, { delivered: 1000 }), ...quiet.slice(1)])), [], 'not the ones before them')
})

t.test('normal mail is held, too, if bounces go on for an hour while bulk mail is held', async (t) => {
  const hours = [hour(0, { delivered: 100, hard: 30 }), hour(5, { delivered: 400, hard: 100 })]
  t.strictSame(levels(evaluated(hours)), [['bounces', 'held', [2]]])
  t.strictSame(levels(evaluated(hours, { isBulkHeld: true })), [['bounces', 'held', [1, 2]]])
  t.strictSame(levels(evaluated(hours.slice(1), { isBulkHeld: true })), [['bounces', 'held', [2]]])
})

t.test('fifty unknown recipients within an hour hold all mail, if they are a tenth', async (t) => {
  const rules = (...hours: HourCounts[]) => applyRules(evaluated(hours)).map(({ rule }) => rule)
  t.match(applyRules(evaluated([hour(0, { delivered: 450, hard: 50 })]))[0], {
    rule: 'unknown-recipients',
    level: 'held',
    classes: [0, 1, 2],
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
  const of = (accepted: number) => evaluated([hour(0, { accepted }), ...history])
  t.strictSame(levels(of(7000)), [])
  t.match(applyRules(of(7001)), [{ rule: 'sudden-volume', level: 'slowed', classes: [1, 2], rate: 1400 }])
  const small = evaluated([hour(0, { accepted: 1001 }), hour(50, { accepted: 10 }), hour(170, {})])
  t.match(applyRules(small), [{ rule: 'sudden-volume', rate: 1000 }], 'not slower than what is never too much')
  t.strictSame(
    levels(evaluated([hour(0, { accepted: 90_000 }), hour(100, { accepted: 10 })])),
    [],
    'a new account has no usual volume',
  )
})

t.test('a newsletter every week or month is the usual volume', async (t) => {
  for (const every of [168, 336, 600]) {
    const sent = (hoursAgo: number) => hour(hoursAgo, { accepted: 5000 })
    const before = [every, 2 * every].filter((hoursAgo) => hoursAgo < 720).map(sent)
    t.strictSame(levels(evaluated([sent(0), ...before, hour(700, {})])), [], `every ${every} hours`)
  }
  t.strictSame(
    levels(evaluated([hour(0, { accepted: 5000 }), hour(700, {})])),
    [],
    'nor is the first mail of an account too much',
  )
})

t.test('normal mail is slowed while bulk mail is held, at half of the busiest hour of the day', async (t) => {
  const hours = [hour(0, { delivered: 20 }), hour(5, { delivered: 3000, hard: 400 })]
  t.match(applyRules(evaluated(hours)), [{ level: 'held', classes: [2], rate: 1500 }])
  const early = [hour(0, { delivered: 190, hard: 15 }), hour(8, { delivered: 10, hard: 5 })]
  t.match(applyRules(evaluated(early)), [{ level: 'slowed', rate: 200 }], 'never less than 200 per hour')
})

t.test('complaints are compared with the deliveries to those who report them', async (t) => {
  const of = (complained: number, delivered: number) =>
    evaluated([hour(0, { delivered: 90_000 })], { complaints: { complained, delivered } })
  t.strictSame(levels(of(4, 10)), [], 'four say nothing')
  t.strictSame(levels(of(5, 5001)), [])
  t.strictSame(levels(of(5, 5000)), [['complaints', 'warned', []]])
  t.match(applyRules(of(9, 3000)), [{ level: 'slowed', rate: 45_000 }])
  t.strictSame(levels(of(10, 2000)), [['complaints', 'held', [2]]])
  t.match(applyRules(of(5, 0)), [{ level: 'held', figures: { share: 1 } }], 'also if no delivery is known')
})

t.test('a hold keeps its reason until the figures are below half of the first limit', async (t) => {
  const of = (hard: number) => applyRecoveryRules(evaluated([hour(5, { delivered: 10_000 - hard, hard })]))
  t.equal(of(200).length, 1)
  t.equal(of(199).length, 0)
})

/** A generator of numbers from 0 to 1 (mulberry32), so that every run sees the same traffic. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

t.test('eight days of ordinary traffic hold and slow no account', async (t) => {
  const random = seeded(7)
  for (const usual of [5, 60, 900, 20_000]) {
    const hours: HourCounts[] = []
    for (let no = 0; no < 8 * 24; no++) {
      // By day and night, with a campaign now and then.
      const accepted = Math.round(
        usual * (1 + Math.sin((no / 24) * 2 * Math.PI)) * random() * (random() < 0.02 ? 5 : 1),
      )
      const hard = Math.round(accepted * 0.03 * random())
      const complained = Math.round(accepted * 0.0004 * random())
      const at = new Date(Date.parse('2026-03-01T00:00Z') + no * 3_600_000)
      hours.unshift({ hour: at, accepted, delivered: accepted - hard, hard, complained })
      for (const minutes of [10, 35, 59]) {
        const part = { ...hours[0] } as { -readonly [K in keyof HourCounts]: HourCounts[K] }
        for (const name of ['accepted', 'delivered', 'hard', 'complained'] as const)
          part[name] = Math.round((part[name] * minutes) / 60)
        const figures = figuresOf([part, ...hours.slice(1)], new Date(at.getTime() + minutes * 60_000))
        const complaints = { complained: figures.recent.complained, delivered: figures.recent.delivered }
        const found = applyRules({ figures, rules: 'standard', complaints, deferrals: [], isBulkHeld: false })
        if (found.some(({ level }) => level !== 'warned')) t.fail(`hour ${no}: ${JSON.stringify(found)}`)
      }
    }
    t.pass(`${usual} per hour`)
  }
})
