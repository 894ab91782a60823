/** Timeouts in milliseconds for each step: those of RFC 5321 4.5.3.2, and others it does not specify. */
export const TIMEOUTS = {
  connect: 30_000,
  tls: 30_000,
  greeting: 300_000,
  ehlo: 300_000,
  starttls: 120_000,
  auth: 120_000,
  mail: 300_000,
  rcpt: 300_000,
  data: 300_000,
  /** Between two blocks of message data. */
  block: 180_000,
  dot: 600_000,
  quit: 5000,
} as const

/**
 * Message data over its whole length: minimum bytes per second, from the end of the grace period. A server that took a block every three minutes would
 * hold the memory of a large message for days.
 */
export const MIN_RATE = { bytesPerSecond: 5000, graceMs: 180_000 } as const
