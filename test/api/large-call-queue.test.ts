import { inTurns } from '@postrider/core'
import t from 'tap'
import { LargeCallQueue } from '../../packages/api/src/large-calls/queue.ts'
import { weigh } from '../../packages/api/src/large-calls/weigh.ts'

const call = (accountId: number, weight = 300_000) => ({ accountId, weight })
const MB = 1024 * 1024

/** The accounts of what is taken in hand now. */
function taken(queue: LargeCallQueue<ReturnType<typeof call>>): number[] {
  const accounts: number[] = []
  for (let next = queue.next(); next; next = queue.next()) accounts.push(next.accountId)
  return accounts
}

function finishOne(queue: LargeCallQueue<ReturnType<typeof call>>): void {
  const [first] = queue.inFlight
  if (first) queue.done(first)
}

t.test('of one account four large calls are in flight, however many wait', async (t) => {
  const queue = new LargeCallQueue<ReturnType<typeof call>>()
  for (let number = 0; number < 100; number++) queue.add(call(1))
  t.strictSame(taken(queue), [1, 1, 1, 1])
  queue.add(call(2))
  t.strictSame(taken(queue), [2], 'another does not wait for them')
})

t.test('where one call is all there is room for, accounts take turns', async (t) => {
  const queue = new LargeCallQueue<ReturnType<typeof call>>()
  for (let number = 0; number < 5; number++) queue.add(call(1, 30 * MB))
  t.strictSame(taken(queue), [1])
  queue.add(call(2, 30 * MB))
  queue.add(call(3, 30 * MB))
  const order: number[] = []
  for (let number = 0; number < 4; number++) {
    finishOne(queue)
    order.push(...taken(queue))
  }
  t.strictSame(order, [2, 3, 1, 1])
})

t.test('two heavy calls are never in flight together, and light ones run while a heavy one does', async (t) => {
  const queue = new LargeCallQueue<ReturnType<typeof call>>()
  queue.add(call(1, 97 * MB))
  queue.add(call(1, 97 * MB))
  t.strictSame(taken(queue), [1])
  queue.add(call(2))
  t.strictSame(taken(queue), [2])
  queue.add(call(3, 20 * MB))
  t.strictSame(taken(queue), [], 'this is heavy too')
  finishOne(queue)
  t.strictSame(taken(queue), [3])
})

t.test('after a loss of the thread the accounts that had calls in flight go alone for a while', async (t) => {
  let now = 0
  const queue = new LargeCallQueue<ReturnType<typeof call>>(() => now)
  for (const accountId of [1, 1, 2]) queue.add(call(accountId))
  taken(queue)
  for (const accountId of [1, 3, 4]) queue.add(call(accountId))
  t.equal(queue.lose().length, 3)
  t.strictSame(taken(queue), [3, 4], 'they had nothing to do with it')
  finishOne(queue)
  t.strictSame(taken(queue), [], 'somebody else is in hand')
  finishOne(queue)
  t.strictSame(taken(queue), [1])
  queue.add(call(3))
  t.strictSame(taken(queue), [], 'nobody is lost with it')
  finishOne(queue)
  t.strictSame(taken(queue), [3])
  queue.add(call(1))
  t.strictSame(taken(queue), [])
  now = 10 * 60_000
  t.strictSame(taken(queue), [1], 'it is forgotten')
})

t.test(
  'a call weighs what it may become in memory: a text its octets, 450,000 members ten times as much',
  async (t) => {
    const weightOf = (text: string) => inTurns(weigh(Buffer.from(text)))
    t.equal(await weightOf('All berths are taken. '.repeat(10_000)), 220_000)
    const json = JSON.stringify(Object.fromEntries(Array.from({ length: 450_000 }, (_, at) => [`k0_${at}`, 'v'])))
    t.ok((await weightOf(json)) > 10 * json.length)
    t.ok((await weightOf('a=b&'.repeat(100_000))) > 10 * 400_000, 'parameters of a form')
    t.ok((await weightOf(encodeURIComponent('{"a":[],'.repeat(10_000)))) > 10 * 80_000, 'escaped values in a form')
  },
)
