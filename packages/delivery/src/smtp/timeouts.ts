/** Milliseconds we wait for each step: RFC 5321 4.5.3.2, and what it leaves open. */
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
  /** Between two blocks of the message leaving. */
  block: 180_000,
  dot: 600_000,
  quit: 5000,
} as const
