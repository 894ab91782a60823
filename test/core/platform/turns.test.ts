import t from 'tap'
import { inItsTurn, inTurns, type Stoppable } from '../../../packages/core/src/platform/concurrency/turns.ts'
import { longestTurnOf } from '../../helpers/turns.ts'

function compute(milliseconds: number): void {
  const until = performance.now() + milliseconds
  while (performance.now() < until);
}

function* worked(steps: number): Stoppable<number> {
  for (let step = 0; step < steps; step++) {
    compute(0.5)
    yield
  }
  return steps
}

t.test('short work is done at once, long work comes later', async (t) => {
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(inTurns(worked(0)), 0, 'no promise')
  const long = inTurns(worked(40))
  t.type(long, Promise)
  t.equal(await long, 40)
})

t.test('of long work, and of what many begin at once, some milliseconds are done in a turn', async (t) => {
  let done: number[] = []
  const longest = await longestTurnOf(60, async () => {
    done = await Promise.all(Array.from({ length: 30 }, (_, at) => inTurns(worked(20 + at))))
  })
  t.strictSame(
    done,
    Array.from({ length: 30 }, (_, at) => 20 + at),
  )
  t.ok(longest < 60, `${longest} of 500 ms`)
})

t.test('what cannot be stopped is done one after the other, when a turn has time for it', async (t) => {
  let order: number[] = []
  const longest = await longestTurnOf(120, () => {
    order = []
    return Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        inItsTurn(() => {
          compute(15)
          order.push(at)
        }),
      ),
    )
  })
  t.strictSame(
    order,
    Array.from({ length: 20 }, (_, at) => at),
  )
  t.ok(longest < 120, `${longest} of 300 ms`)
})

t.test('an error is reported, then or later, and delays no others', async (t) => {
  await new Promise((resolve) => setImmediate(resolve))
  const failing = function* (steps: number): Stoppable<never> {
    yield* worked(steps)
    throw new Error('no')
  }
  t.throws(() => inTurns(failing(0)), /no/)
  const [failed, other] = await Promise.allSettled([inTurns(failing(20)), inTurns(worked(20))])
  t.equal(failed.status, 'rejected')
  t.strictSame(other, { status: 'fulfilled', value: 20 })
})
