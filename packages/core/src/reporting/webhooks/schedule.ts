/** When failed batches are retried and when they are dead-lettered. All times are in seconds. */

/** A batch that fails while others succeed is dead-lettered after this time; a receiver that always fails is disabled a bit later. */
export const GIVE_UP_AFTER = 75 * 3600
export const DISABLE_AFTER = 78 * 3600
/** A pause is this fraction of the time since the first failure, within limits: 5 s, 8 s, 12 s … 2 h, about 60 times in 75 h. */
const GROWTH = 0.5
const MIN_PAUSE = 5
const MAX_PAUSE = 2 * 3600
const JITTER = 0.2
/** Maximum delay that a receiver can request. */
const MAX_REQUESTED_PAUSE = 6 * 3600

/** Returns the seconds until the next request after failing for `lasting` seconds. `random` is in [0, 1). */
export function pauseAfter(lasting: number, random: number): number {
  const pause = Math.min(Math.max(lasting * GROWTH, MIN_PAUSE), MAX_PAUSE)
  return pause * (1 + JITTER * (2 * random - 1))
}

/** Returns the delay in seconds of a Retry-After (RFC 9110 10.2.3: seconds or a date); 0 if absent or invalid. */
export function askedPause(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0
  const text = retryAfter.trim()
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_REQUESTED_PAUSE) : 0
}
