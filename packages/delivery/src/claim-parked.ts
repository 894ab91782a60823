import type { Core } from '@postrider/core'
import type { Dispatcher } from './dispatcher.ts'
import { flowKey } from './fair-queue.ts'

interface ParkedClaimOptions {
  readonly core: Core
  readonly workerId: number
  readonly dispatcher: Dispatcher
}

/** Claims parked mail of places that have capacity for it now. Returns the number of deliveries. */
export async function claimParked({ core, workerId, dispatcher }: ParkedClaimOptions): Promise<number> {
  let sum = 0
  const places = Map.groupBy(dispatcher.parkedWithCapacity(), ({ backlogged }) => backlogged.place)
  for (const [place, found] of places) {
    const shares = found.map(({ backlogged, limit }) => ({ ...backlogged.flow, limit }))
    const claimed = await core.deliveries.claim({ workerId, shares, place })
    for (const { backlogged, limit } of found) {
      const key = flowKey(backlogged.flow)
      const own = claimed.reduce((count, delivery) => count + Number(flowKey(delivery) === key), 0)
      if (own < limit) dispatcher.parkedIsEmpty(backlogged)
    }
    if (claimed.length > 0) await dispatcher.take(claimed)
    sum += claimed.length
  }
  return sum
}
