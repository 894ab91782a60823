import { BULK, type DeliveryClass, type Flow, NORMAL, URGENT } from '@postrider/core'
import t from 'tap'
import { FairQueue } from '../../packages/delivery/src/fair-queue.ts'

const anyFlow = () => true

function queueOf(...items: readonly (readonly [accountId: number, of: DeliveryClass, count: number])[]) {
  const queue = new FairQueue<string>()
  for (const [accountId, of, count] of items)
    for (let at = 0; at < count; at++) queue.push({ accountId, class: of }, `${accountId}${'unb'[of]}${at}`)
  return queue
}

function take(queue: FairQueue<string>, count: number, mayGo: (flow: Flow) => boolean = anyFlow): string {
  return Array.from({ length: count }, () => queue.shift(mayGo) ?? '-').join(' ')
}

t.test('accounts take turns, however much one has, and each in its own order', async (t) => {
  const queue = queueOf([1, NORMAL, 4], [2, NORMAL, 1], [3, NORMAL, 2])
  t.equal(take(queue, 8), '1n0 2n0 3n0 1n1 3n1 1n2 1n3 -')
})

t.test('urgent mail goes first', async (t) => {
  const queue = queueOf([1, NORMAL, 2], [1, URGENT, 2], [2, URGENT, 1])
  t.equal(take(queue, 5), '1u0 2u0 1u1 1n0 1n1')
})

t.test('bulk mail gets every fifth turn while normal mail waits, and all turns without it', async (t) => {
  const queue = queueOf([1, BULK, 4], [2, NORMAL, 9])
  t.equal(take(queue, 13), '2n0 2n1 2n2 2n3 1b0 2n4 2n5 2n6 2n7 1b1 2n8 1b2 1b3')
})

t.test('a flow that may not go on now keeps its place', async (t) => {
  const queue = queueOf([1, NORMAL, 2], [2, NORMAL, 2])
  t.equal(
    take(queue, 3, ({ accountId }) => accountId === 2),
    '2n0 2n1 -',
  )
  t.equal(queue.length, 2)
  t.equal(queue.countOf({ accountId: 1, class: NORMAL }), 2)
  t.equal(take(queue, 2), '1n0 1n1')
  t.equal(queue.flows, 0)
})

t.test('what is drained is gone, and the queue goes on', async (t) => {
  const queue = queueOf([1, NORMAL, 2], [2, BULK, 1])
  t.same(queue.drain().sort(), ['1n0', '1n1', '2b0'])
  t.equal(queue.length, 0)
  queue.push({ accountId: 1, class: NORMAL }, 'again')
  t.equal(take(queue, 2), 'again -')
})
