import { BULK, type DeliveryClass, type Flow, NORMAL, URGENT } from '@postrider/core'
import t from 'tap'
import { FairQueue } from '../../packages/delivery/src/common/fair-queue.ts'

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

t.test('urgent mail goes first and gets four of five turns while normal mail waits', async (t) => {
  const queue = queueOf([1, NORMAL, 3], [1, URGENT, 9], [2, URGENT, 1])
  t.equal(take(queue, 13), '1u0 1n0 2u0 1u1 1u2 1u3 1n1 1u4 1u5 1u6 1u7 1n2 1u8')
})

t.test('urgent mail that comes later is next', async (t) => {
  const queue = queueOf([1, NORMAL, 20])
  t.equal(take(queue, 3), '1n0 1n1 1n2')
  queue.push({ accountId: 2, class: URGENT }, 'now')
  t.equal(take(queue, 2), 'now 1n3')
})

t.test('bulk mail gets a turn for four of normal mail, and all turns without it', async (t) => {
  const queue = queueOf([1, BULK, 4], [2, NORMAL, 9])
  const taken = take(queue, 10).split(' ')
  t.equal(taken.filter((item) => item.includes('b')).length, 2)
  t.equal(
    take(queue, 3)
      .split(' ')
      .filter((item) => item.includes('b')).length,
    2,
  )
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
