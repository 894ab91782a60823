import { type Actor, isKnown } from '../../accounts/audit/index.ts'
import { HOUR, type Rate, type RateLimits, requireAllowed } from '../../accounts/rate-limits/index.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { createKeyMaker, type GivenKey, type KeyMaker } from './dkim-key.ts'

/** Generating an RSA key takes a fifth of a second of processor time. An Ed25519 key takes hardly any, but each has a row that stays. */
const MAX_KEYS_PER_HOUR = 100

/** Limits the keys an account generates per hour, over all processes; the operator has no limit. */
export function createLimitedKeyMaker(
  secrets: Secrets,
  rateLimits: RateLimits,
  givenKey?: GivenKey,
): (by: Actor) => KeyMaker {
  const keyMaker = createKeyMaker(secrets, givenKey)
  return (by) => async (accountId, name, algorithm) => {
    if (isKnown(by)) requireAllowed(await rateLimits.take([newKeys(accountId)]))
    return keyMaker(accountId, name, algorithm)
  }
}

function newKeys(accountId: number): Rate {
  return { name: `dkim keys ${accountId}`, what: 'new DKIM keys per hour', limit: MAX_KEYS_PER_HOUR, seconds: HOUR }
}
