import t from 'tap'
import {
  askedPause,
  DISABLE_AFTER,
  GIVE_UP_AFTER,
  pauseAfter,
} from '../../../../packages/core/src/reporting/webhooks/schedule.ts'

t.test('a receiver is tried for 75 hours at least, ever more seldom, and often enough', async (t) => {
  for (const random of [0, 0.5, 0.999]) {
    const pauses: number[] = []
    let lasting = 0
    while (lasting < DISABLE_AFTER) {
      pauses.push(pauseAfter(lasting, random))
      lasting += pauses.at(-1) ?? 0
    }
    t.ok(pauses.length > 40 && pauses.length < 100, `${pauses.length} tries`)
    for (let at = 1; at < pauses.length; at++) t.ok((pauses[at] ?? 0) >= (pauses[at - 1] ?? 0))
    t.ok((pauses[0] ?? 0) <= 6, 'the first after seconds')
    t.ok((pauses.at(-1) ?? 0) <= 2.4 * 3600, 'the last after some two hours')
  }
  t.ok(GIVE_UP_AFTER >= 75 * 3600)
  t.ok(DISABLE_AFTER > GIVE_UP_AFTER)
  t.not(pauseAfter(1000, 0), pauseAfter(1000, 0.9), 'what failed together does not come back together')
})

t.test('Retry-After is read as seconds or as a date, and obeyed within bounds', async (t) => {
  const now = Date.UTC(2026, 0, 5, 10, 0, 0)
  t.equal(askedPause(undefined, now), 0)
  t.equal(askedPause('120', now), 120)
  t.equal(askedPause(' 0 ', now), 0)
  t.equal(askedPause('Mon, 05 Jan 2026 10:30:00 GMT', now), 1800)
  t.equal(askedPause('Mon, 05 Jan 2026 09:30:00 GMT', now), 0, 'past')
  t.equal(askedPause('999999999', now), 6 * 3600)
  for (const odd of ['soon', '-5', '1e9', '', '12 minutes']) t.ok(askedPause(odd, now) <= 6 * 3600, odd)
  t.equal(askedPause('soon', now), 0)
})
