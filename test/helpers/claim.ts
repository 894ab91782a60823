import type { ClaimedDelivery, Core } from '@postrider/core'

export interface Claimed {
  readonly workerId: number
  /** Of each flow. */
  readonly limit: number
  readonly dueFrom?: number | undefined
  readonly exceptDomains?: readonly string[]
  readonly onlyDomains?: readonly string[]
}

/** Claims what is due of all flows. */
export async function claimDue(
  { deliveries }: Pick<Core, 'deliveries'>,
  { workerId, onlyDomains, ...share }: Claimed,
): Promise<ClaimedDelivery[]> {
  const flows = await deliveries.dueFlows()
  const shares = flows.map((flow) => ({ ...flow, ...share }))
  return deliveries.claim({ workerId, shares, ...(onlyDomains ? { onlyDomains } : {}) })
}
