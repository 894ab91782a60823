import t from 'tap'
import { LargeCallQueue } from '../../packages/api/src/large-calls/queue.ts'

const call = (accountId: number, octets = 300_000) => ({ accountId, octets })
const MB = 1024 * 1024

/** The accounts of what is taken in hand now. */
function taken(queue: LargeCallQueue<ReturnType<typeof call>>): number[] {
  const accounts: number[] = []
  for (let next = queue.next(); next; next = queue.next()) accounts.push(next.accountId)
  return accounts
}

function finishOne(queue: LargeCallQueue<ReturnType<typeof call>>): void {
  const [first] = queue.inHand
  if (first) queue.done(first)
}

t.test('of one account four large calls are in hand, however many wait', async (t) => {
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
