import type { UsableDomain } from './domain.ts'
import type { DomainCache } from './domain-cache.ts'

/** The sender of accounts on trial: an address of the operator’s domain. */
export interface TrialSender {
  /** In lower case. */
  readonly address: string
  readonly domain: UsableDomain
}

/** Returns the sender of accounts on trial, at most 5 s old; null unless SERVICE_DOMAIN is an active sending domain. */
export type FindTrialSender = () => Promise<TrialSender | null> | TrialSender | null

export function createTrialSender(
  { findHeld }: Pick<DomainCache, 'findHeld'>,
  serviceDomain: string | undefined,
): FindTrialSender {
  if (serviceDomain === undefined) return () => null
  const senderOn = (domain: UsableDomain | null) =>
    domain?.state === 'active' ? { address: `onboarding@${serviceDomain}`, domain } : null
  return () => {
    const found = findHeld(serviceDomain)
    return found instanceof Promise ? found.then(senderOn) : senderOn(found)
  }
}
