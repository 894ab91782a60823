/** When what failed is tried again, and when it is given up. All in seconds. */

/** A batch that fails beside others is given up after this time, a receiver that never answers is disabled a bit later. */
export const GIVE_UP_AFTER = 75 * 3600
export const DISABLE_AFTER = 78 * 3600
/** A pause is this part of the time the trouble lasts already, within bounds: 5 s, 8 s, 12 s … 2 h, some 60 times in 75 h. */
const GROWTH = 0.5
const LEAST = 5
const MOST = 2 * 3600
const JITTER = 0.2
/** What a receiver asks for is obeyed up to here. */
const MOST_ASKED = 6 * 3600

/** Seconds until the next request, with trouble lasting this long. `random` is in [0, 1). */
export function pauseAfter(lasting: number, random: number): number {
  const pause = Math.min(Math.max(lasting * GROWTH, LEAST), MOST)
  return pause * (1 + JITTER * (2 * random - 1))
}

/** Seconds that a Retry-After (RFC 9110 10.2.3: seconds, or a date) asks to wait; 0: nothing that could be understood. */
export function askedPause(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0
  const text = retryAfter.trim()
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MOST_ASKED) : 0
}
