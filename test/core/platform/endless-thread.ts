import { serveOrders } from '../../../packages/core/src/platform/concurrency/thread-orders.ts'

/** Does as it is told: it ends, throws, never ends, or takes all the memory there is. */
serveOrders((order: string) => {
  if (order === 'throw') throw new Error('told to')
  while (order === 'compute');
  const all: number[][] = []
  while (order === 'take memory') all.push(new Array(10_000).fill(1))
  return { answer: order, transfer: [] }
})
