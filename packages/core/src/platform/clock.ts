/**
 * The host's clock, passed to code that needs the time of day. Due times and leases use the database's time instead.
 */
export interface Clock {
  /** Milliseconds since 1970, as Date.now(). */
  now(): number
  /** Milliseconds of a monotonic clock. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
