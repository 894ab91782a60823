import type { Core } from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'
import type { Dispatcher } from './dispatcher.ts'

interface ParkedClaimOptions {
  readonly core: Core
  readonly workerId: number
  readonly dispatcher: Dispatcher
}

/** Claims parked mail of the next destination that has capacity for some now. Returns whether there was one; there may be others. */
export async function claimParked({ core, workerId, dispatcher }: ParkedClaimOptions): Promise<boolean> {
  const found = [...dispatcher.parkedWithCapacity()]
  const [first] = found
  if (!first) return false
  const shares = found.map(({ backlogged, limit }) => ({ ...backlogged.flow, limit }))
  const claimed = await core.deliveries.claim({ workerId, shares, place: first.backlogged.destination })
  for (const { backlogged, limit } of found) {
    const key = flowKey(backlogged.flow)
    const own = claimed.reduce((count, delivery) => count + Number(flowKey(delivery) === key), 0)
    if (own < limit) dispatcher.parkedIsEmpty(backlogged)
  }
  if (claimed.length > 0) await dispatcher.take(claimed)
  return true
}
