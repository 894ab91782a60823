import { ServiceError } from '../../platform/errors.ts'
import { networkContains } from '../../platform/net/networks.ts'
import { type ApiKey, allows, type Restrictions } from './api-key.ts'

export type Rights = Pick<ApiKey, 'scopes' | 'networks' | 'restrictions' | 'v3Rights'>

/**
 * Ensures that a key that manages keys does not gain permissions: every key it creates, changes or replaces must be
 * within its own.
 *
 * Throws keyRestricted.
 */
export function requireWithin(wanted: Rights, own: Rights): void {
  const scope = wanted.scopes.find((one) => !allows(own.scopes, one))
  if (scope !== undefined) throw beyond(`the scope ${scope}`)
  const everywhere = own.networks.length === 0
  const inside = (network: string): boolean => own.networks.some((whole) => networkContains(whole, network))
  if (!everywhere && (wanted.networks.length === 0 || !wanted.networks.every(inside))) throw beyond('other networks')
  if (!isSubset(wanted.v3Rights, own.v3Rights)) throw beyond('other permissions')
  requireRestricted(wanted.restrictions, own.restrictions)
}

function requireRestricted(wanted: Restrictions, own: Restrictions): void {
  if (!isSubset(wanted.templates, own.templates)) throw beyond('other templates')
  if (!isSubset(wanted.senderDomains, own.senderDomains)) throw beyond('other sender domains')
  if (!isSubset(wanted.recipientDomains, own.recipientDomains)) throw beyond('other recipient domains')
  if (!isAtMost(wanted.recipientsPerHour, own.recipientsPerHour)) throw beyond('more recipients per hour')
  if (!isAtMost(wanted.callsPerMinute, own.callsPerMinute)) throw beyond('more calls per minute')
  if (own.class !== null && wanted.class !== own.class) throw beyond('another class')
  if (own.keepContent === false && wanted.keepContent === null) throw beyond('content that is kept')
  if (!isAtMost(wanted.until?.getTime() ?? null, own.until?.getTime() ?? null)) throw beyond('a later expiry')
}

function isSubset<T>(part: readonly T[] | null, whole: readonly T[] | null): boolean {
  return whole === null || (part?.every((one) => whole.includes(one)) ?? false)
}

function isAtMost(value: number | null, bound: number | null): boolean {
  return bound === null || (value !== null && value <= bound)
}

/**
 * A key with quotas shares them with the keys it creates. It must not manage keys with another quota, which would add
 * to its own.
 */
export function requireSameQuota(wanted: ApiKey, own: Pick<ApiKey, 'id' | 'countsWith' | 'restrictions'>): void {
  const { recipientsPerHour, callsPerMinute } = own.restrictions
  if (recipientsPerHour === null && callsPerMinute === null) return
  if (quotaOf(wanted) !== quotaOf(own)) throw beyond('a quota of its own')
}

/** Returns the id of the key whose quotas a key uses. */
export function quotaOf({ id, countsWith }: Pick<ApiKey, 'id' | 'countsWith'>): number {
  return countsWith ?? id
}

function beyond(what: string): ServiceError {
  return new ServiceError('keyRestricted', { values: { problem: `manage a key with ${what}` } })
}
