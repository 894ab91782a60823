import type { ClaimedDelivery, Core, DeliveryKey, ParkedDelivery } from '@postrider/core'

export interface Claimed {
  readonly workerId: number
  /** Of each flow. */
  readonly limit: number
  readonly dueFrom?: number | undefined
}

/** Claims what is due of all flows. */
export async function claimDue(
  { deliveries }: Pick<Core, 'deliveries'>,
  { workerId, ...share }: Claimed,
): Promise<ClaimedDelivery[]> {
  const flows = await deliveries.dueFlows()
  return deliveries.claim({ workerId, shares: flows.map((flow) => ({ ...flow, ...share })) })
}

/** These claimed deliveries, to be parked at a destination. */
export function parkedAt(
  claimed: readonly DeliveryKey[],
  where: Pick<ParkedDelivery, 'place' | 'waitingFor'>,
): ParkedDelivery[] {
  return claimed.map((delivery) => ({ ...delivery, ...where }))
}
