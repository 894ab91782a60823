import { ServiceError } from '../platform/errors.ts'
import type { DomainState } from './domain.ts'

const PROBLEMS: Readonly<Record<DomainState, string>> = {
  pending: 'added but not verified yet; publish its DNS records',
  inactive: 'inactive because its DNS records are no longer correct; correct them',
  rejected: 'rejected by the operator',
  // Activated within the age of a cache.
  active: 'not active yet; retry after 5 seconds',
}

/** For the log of a mail program (docs/smarthost.md). */
const ADVICE = '; send as an active domain, or set fallbackSender of the account'

/**
 * Returns senderInvalid for a domain the account may not send from. `place` is where SMTP found it, `state` the state of the
 * account's own domain of this name; null if it has none. `trial` is what an account on trial may send from.
 */
export function senderError(
  domain: string,
  place: string,
  state: DomainState | null,
  trial?: string | undefined,
): ServiceError {
  const where = `${domain} in ${place}`
  const named = state === null ? undefined : PROBLEMS[state]
  const until = trial === undefined ? '' : `; until a domain of the account is active, send from ${trial}`
  return new ServiceError('senderInvalid', {
    values: {
      domain,
      problem: `${domain} is ${named ?? 'not a sending domain of the account; add it first'}${until}`,
      where: `${where}${named ? ` is ${named}` : trial === undefined ? ADVICE : ''}${until}`,
    },
    reason: `domain of ${place}: ${state ?? 'not the account’s'}`,
  })
}
