/** The host's clock, handed to whoever needs a time of day. Due times and leases never come from here but from the database. */
export interface Clock {
  /** Milliseconds since 1970, as Date.now(). */
  now(): number
  /** Milliseconds of a clock that never jumps. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
