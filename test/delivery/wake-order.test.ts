import { type Core, createLog, type Flow, NORMAL } from '@postrider/core'
import t, { type Test } from 'tap'
import { runClaimLoop } from '../../packages/delivery/src/queue/claim-loop.ts'
import type { Dispatcher } from '../../packages/delivery/src/queue/dispatcher.ts'
import { DueClaims } from '../../packages/delivery/src/queue/due-claims.ts'
import { WakeOrder } from '../../packages/delivery/src/queue/wake-order.ts'
import { until } from '../helpers/until.ts'

const IDS = Array.from({ length: 20 }, (_, at) => at + 1)
const flow = (accountId: number): Flow => ({ accountId, class: NORMAL })

/** In the order in which they look for new mail of the flow: ids and delays. */
function orderOf(turn: number, workers: readonly number[], of = flow(7)): [number, number][] {
  const delays = workers.map((id) => [id, new WakeOrder(id, () => workers).delayOf(of, turn)] as const)
  return delays
    .flatMap(([id, delay]): [number, number][] => (delay === undefined ? [] : [[id, delay]]))
    .sort(([, a], [, b]) => a - b)
}

t.test('one worker looks at once, four others later, and the remaining ones not at all', (t) => {
  for (const turn of [0, 1, 999_999]) {
    t.same(
      orderOf(turn, IDS).map(([, delay]) => delay),
      [0, 50, 100, 200, 400],
    )
  }
  t.same(
    orderOf(0, [5, 9]).map(([, delay]) => delay),
    [0, 50],
  )
  t.same(orderOf(3, [5]), [[5, 0]])
  t.end()
})

t.test(
  'all workers get turns, the second of a turn is the first of the next, and flows have different first ones',
  (t) => {
    const turns = IDS.map((turn) => orderOf(turn, IDS).map(([id]) => id))
    t.equal(new Set(turns.map(([first]) => first)).size, IDS.length)
    for (const [at, [, second]] of turns.entries()) if (at + 1 < turns.length) t.equal(second, turns[at + 1]?.[0])
    t.ok(new Set(IDS.map((account) => orderOf(0, IDS, flow(account))[0]?.[0])).size > 5)
    t.notSame(
      IDS.filter((at) => turns[at - 1]?.[1] === (turns[at - 1]?.[0] as number) + 1).length,
      IDS.length,
      'workers of one host do not come one after another',
    )
    t.end()
  },
)

t.test('a worker that does not know the others looks at once', (t) => {
  t.equal(new WakeOrder(1, () => []).delayOf(flow(7), 3), 0)
  t.equal(new WakeOrder(1, () => [2, 3]).delayOf(flow(7), 3), 0)
  t.end()
})

/** Claim loops of three workers, and what they claim. The looks that each of them has every second find nothing. */
function startWorkers(t: Test, { full = [] as readonly number[] } = {}) {
  const ids = [1, 2, 3]
  const claims: { readonly workerId: number; readonly accounts: readonly number[]; readonly at: number }[] = []
  const core = {
    deliveries: {
      dueFlows: async () => [],
      claim: async ({ workerId, shares }: Parameters<Core['deliveries']['claim']>[0]) => {
        claims.push({ workerId, accounts: shares.map(({ accountId }) => accountId), at: performance.now() })
        return []
      },
    },
  } as unknown as Core
  const dispatcherOf = (workerId: number) =>
    ({
      capacity: full.includes(workerId) ? 0 : 1000,
      mayClaim: () => true,
      reserveFor: () => 0,
      lookForParked: async () => {},
      reconcile: async () => {},
      parkedWithCapacity: () => [],
    }) as unknown as Dispatcher
  const loops = ids.map((workerId) => {
    const dispatcher = dispatcherOf(workerId)
    const log = createLog('test', 'silent')
    return runClaimLoop({ core, log, workerId, dispatcher, workers: () => ids, onAnswer: () => {} })
  })
  t.teardown(() => Promise.all(loops.map((loop) => loop.stop())))
  const order = orderOf(0, ids).map(([id]) => id)
  return {
    core,
    dispatcherOf,
    claims,
    /** The workers, in the order in which they look for this mail. */
    order,
    wake: () => {
      for (const loop of loops) loop.wake({ flows: [flow(7)], turn: 0 })
    },
  }
}

t.test('the next workers look for new mail later', async (t) => {
  const { wake, claims, order } = startWorkers(t)
  const began = performance.now()
  wake()
  await until('three claims', () => claims.length === 3)
  const delays = order.map((id) => (claims.find(({ workerId }) => workerId === id)?.at ?? 0) - began)
  // Up to 20 ms early together with other mail, and a timer may end a millisecond early.
  t.ok((delays[0] as number) > 0 && (delays[1] as number) > 28 && (delays[2] as number) > 78, delays.join(', '))
})

t.test('mail that the first worker has no room for is looked for by the next one', async (t) => {
  const [first] = orderOf(0, [1, 2, 3]).map(([id]) => id) as [number]
  const { wake, claims, order } = startWorkers(t, { full: [first] })
  wake()
  await until('a claim', () => claims.length > 0)
  t.equal(claims[0]?.workerId, order[1])
})

t.test('a worker that has claimed of a flow does not look later for what came before', async (t) => {
  const { core, dispatcherOf } = startWorkers(t)
  const due = new DueClaims({ core, workerId: 4, dispatcher: dispatcherOf(4), onAnswer: () => {} })
  due.knowLater(flow(7), 60_000)
  t.ok(due.nextIn > 50_000)
  await due.claim()
  t.ok(due.nextIn > 50_000, 'a claim before that leaves it to others')
  due.know([flow(7)])
  await due.claim()
  t.equal(due.nextIn, Number.POSITIVE_INFINITY)
})
