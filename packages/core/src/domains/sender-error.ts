import { ServiceError } from '../platform/errors.ts'
import type { DomainState } from './domain.ts'

const PROBLEMS: Readonly<Record<DomainState, string>> = {
  pending: 'added but not verified yet; publish its DNS records',
  inactive: 'inactive because its DNS records are no longer correct; correct them',
  rejected: 'rejected by the operator',
  // Activated within the age of a cache.
  active: 'not active yet; retry after 5 seconds',
}

/**
 * Returns senderInvalid for a domain the account may not send from. `place` is where SMTP found it, `state` the state of the
 * account's own domain of this name; null if it has none.
 */
export function senderError(domain: string, place: string, state: DomainState | null): ServiceError {
  const where = `${domain} in ${place}`
  const named = state === null ? undefined : PROBLEMS[state]
  return new ServiceError('senderInvalid', {
    values: {
      domain,
      problem: named ? `${domain} is ${named}` : `${domain} is not a sending domain of the account; add it first`,
      where: named ? `${where} is ${named}` : where,
    },
    reason: `domain of ${place}: ${state ?? 'not the account’s'}`,
  })
}
