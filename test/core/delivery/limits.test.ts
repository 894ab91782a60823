import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeQueue, openCore } from './queue-of.ts'

const HITS = { place: 'yahoo', rule: 'yahoo-tss04', accountId: 0, count: 1, within: 3600 }
const PAUSE = {
  place: 'yahoo',
  accountId: null,
  setting: 'pause',
  value: null,
  seconds: null,
  rule: 'yahoo-tss04',
  reason: '421 4.7.0 [TSS04]',
  lasts: 7200,
} as const

t.test('the refusals of all workers are counted together, and no longer than the rule says', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  const other = openCore(t, service, 1).deliveries.limits
  t.equal(await limits.countHits(HITS), 1)
  t.equal(await other.countHits({ ...HITS, count: 3 }), 4)
  t.equal(await limits.countHits({ ...HITS, rule: 'another' }), 1, 'another rule has its own count')
  t.equal(await limits.countHits({ ...HITS, place: 'aol' }), 1, 'so has another destination')
  t.equal(await limits.countHits({ ...HITS, accountId: 7 }), 1, 'and an account')
  await moveClock(service.sql, '30 minutes')
  t.equal(await limits.countHits(HITS), 5)
  await moveClock(service.sql, '62 minutes')
  t.equal(await limits.countHits(HITS), 2, 'only the last hour')
})

t.test('a rule that applies again prolongs its limit, and two rules have two', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  await limits.set(PAUSE)
  const [first] = await limits.overrides()
  t.match(first, { place: 'yahoo', setting: 'pause', rule: 'yahoo-tss04', reason: '421 4.7.0 [TSS04]', stepDue: false })
  await moveClock(service.sql, '1 hour')
  await limits.set({ ...PAUSE, reason: 'again' })
  const [second] = await limits.overrides()
  t.equal(second?.id, first?.id)
  t.match(second, { reason: 'again', since: first?.since })
  t.ok(Number(second?.until) - Number(first?.until) > 3_500_000, 'an hour longer')
  await limits.set({ ...PAUSE, rule: 'yahoo-tss05', lasts: 60 })
  t.equal((await limits.overrides()).length, 2)
  await moveClock(service.sql, '2 hours')
  t.equal((await limits.overrides()).length, 1, 'the shorter one has ended')
})

t.test('of all workers one may try a delivery, every five minutes, and only during a long pause', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  await limits.set(PAUSE)
  await limits.set({ ...PAUSE, place: 'short', lasts: 900 })
  await moveClock(service.sql, '6 minutes')
  const [due, short] = (await limits.overrides()).sort((a, b) => b.place.localeCompare(a.place))
  t.match([due, short], [{ stepDue: true }, { stepDue: false }])
  const tries = await Promise.all([1, 2, 3].map(() => limits.takeProbe(due?.place as string)))
  t.strictSame(tries.flat(), [null])
  t.strictSame(await limits.takeProbe(short?.place as string), [])
  await limits.endPauses('yahoo', { accountId: 1, isTaken: false })
  await limits.endPauses('short', { accountId: 1, isTaken: true })
  t.match(await limits.overrides(), [{ place: 'short' }], 'only what was tried can end early')
})

t.test('however many limits sites have, those of providers and of the operator are read', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  await limits.set(PAUSE)
  await limits.set({ ...PAUSE, place: 'mx.paused.example', rule: 'operator' })
  await service.sql`
    insert into limit_overrides (place, setting, rule, reason, since, until)
    select 'mx.site' || number || '.example', 'pause', 'any', 'hostile', now(), now() + interval '1 hour' from generate_series(1, 5000) number`
  const read = await limits.overrides(['yahoo', 'google'])
  t.ok(read.length < 5000)
  t.strictSame(
    read.slice(0, 2).map(({ place }) => place),
    ['yahoo', 'mx.paused.example'],
  )
})

t.test("an operator's pause is neither probed nor ended by a delivery", async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  await limits.set({ ...PAUSE, rule: 'operator', reason: 'maintenance' })
  await moveClock(service.sql, '6 minutes')
  t.match(await limits.overrides(), [{ stepDue: false }])
  await limits.endPauses('yahoo', { accountId: 1, isTaken: true })
  t.equal((await limits.overrides()).length, 1)
})

t.test('an adaptive limit is raised by a quarter every five minutes, unless mail was refused in them', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  const value = async () => (await limits.overrides())[0]?.value
  await limits.set({ ...PAUSE, setting: 'rate', rule: 'adaptive', value: 100, seconds: 60 })
  await limits.raise()
  t.equal(await value(), 100, 'not yet')
  await moveClock(service.sql, '6 minutes')
  await Promise.all([limits.raise(), limits.raise()])
  t.equal(await value(), 125, 'once, whoever does it')
  await moveClock(service.sql, '12 minutes')
  await limits.countHits({ ...HITS, rule: 'adaptive' })
  await limits.raise()
  t.equal(await value(), 125)
  await moveClock(service.sql, '19 minutes')
  await limits.raise()
  t.equal(await value(), 157)
})

const offersOf = (accountId: number, domainId: number, offered: number, refused: number) => ({
  ...{ accountId, domainId, offered, service: refused, message: 0, authentication: 0 },
  recipients: Array.from({ length: Math.min(refused, 20) }, (_, at) => domainId * 100 + at),
})

t.test('the offers of all workers within ten minutes are judged together', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  const other = openCore(t, service, 1).deliveries.limits
  t.strictSame(await limits.judge('mx.one.example', [offersOf(1, 1, 12, 12)]), [], 'too few, of one domain')
  t.strictSame(await limits.judge('mx.two.example', [offersOf(1, 2, 12, 12)]), [], 'elsewhere')
  await moveClock(service.sql, '15 minutes')
  t.strictSame(await other.judge('mx.one.example', [offersOf(2, 2, 12, 12)]), [], 'the first ones are too old')
  const [block, ...others] = await limits.judge('mx.one.example', [offersOf(1, 1, 12, 8)])
  t.match(block, { accountId: null, offered: 24, refused: 20, isBlocked: true })
  t.strictSame(others, [])
  await limits.forgetOffers('mx.one.example', null)
  t.strictSame(await other.judge('mx.one.example', [offersOf(2, 2, 12, 12)]), [])
})

t.test('where several domains lack authentication, each account is judged by what is refused of all', async (t) => {
  const { core } = await makeQueue(t)
  const { limits } = core.deliveries
  const lacking = (accountId: number, offered: number, refused: number) => {
    const { service: authentication, ...rest } = offersOf(accountId, accountId, offered, refused)
    return { ...rest, service: 0, authentication }
  }
  const judged = async (...offers: ReturnType<typeof lacking>[]) =>
    (await limits.judge('mx.three.example', offers)).map(({ accountId }) => accountId).toSorted()
  t.strictSame(await judged(lacking(1, 15, 15)), [], 'too few, of one domain')
  t.strictSame(await judged(lacking(2, 6, 5)), [1, 2])
  t.strictSame(await judged(lacking(3, 4, 4)), [1, 2], 'too few of the third')
  t.strictSame(await judged(lacking(4, 5, 2), lacking(3, 1, 1)), [1, 2, 3], 'most of the fourth is accepted')
})

t.test('while most is refused for its sender, a delivery is tried after 5, 10, 20 and 30 minutes', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  await limits.set({ ...PAUSE, rule: 'refused', accountId: 7, lasts: 4 * 3600 })
  const tried: number[] = []
  for (let minute = 1; minute <= 80; minute++) {
    await moveClock(service.sql, `${minute} minutes 2 seconds`)
    if ((await limits.takeProbe('yahoo')).length > 0) tried.push(minute)
  }
  const waited = tried.map((minute, at) => minute - (tried[at - 1] ?? 0))
  // It is looked each minute, two seconds late.
  t.strictSame(
    waited.map((minutes) => Math.floor(minutes / 5) * 5),
    [5, 10, 20, 30],
  )
  await limits.endPauses('yahoo', { accountId: 8, isTaken: true })
  t.equal((await limits.overrides()).length, 1, 'of another account')
  await limits.endPauses('yahoo', { accountId: 7, isTaken: false })
  t.equal((await limits.overrides()).length, 1, 'one that was not taken')
  await limits.endPauses('yahoo', { accountId: 7, isTaken: true })
  t.equal((await limits.overrides()).length, 0)
})

t.test('a limit of connections that had ended before it is set again is kept as a past one', async (t) => {
  const { service, core } = await makeQueue(t)
  const { limits } = core.deliveries
  const refused = { place: 'yahoo', workerId: 1, others: 3, reason: '421 too many' }
  t.notOk(await limits.lowerConnections({ ...refused, others: 0 }), 'the only session')
  t.ok(await limits.lowerConnections(refused))
  t.ok(await limits.lowerConnections({ ...refused, others: 5 }))
  t.match(await limits.overrides(), [
    { setting: 'connections', value: 3, seconds: null, rule: 'adaptive', reason: '421 too many' },
  ])
  await moveClock(service.sql, '3 hours')
  t.ok(await limits.lowerConnections({ ...refused, others: 5 }))
  t.match(await limits.overrides(), [{ value: 5 }])
  t.match(await service.sql`select place, setting, value, seconds, rule from past_limits`, [
    { place: 'yahoo', setting: 'connections', value: 3, seconds: null, rule: 'adaptive' },
  ])
})
