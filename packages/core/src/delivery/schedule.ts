/** When a deferred delivery is tried again. Data first; the code below only reads it. */

/** Minutes between attempts, from the first to the second on; the last one repeats. */
export const RETRY_MINUTES: readonly number[] = [1, 5, 15, 30, 60, 120, 240]
/** Hours a delivery is tried, from when it is due; anew where it was held back and released. */
export const LIFETIME_HOURS = 72
/** Each wait is lengthened or shortened by up to this part, so that what failed together doesn't return together. */
export const JITTER = 0.2
/** After an indeterminate attempt: long enough for the remote server to finish what it may have taken (RFC 1047). */
export const INDETERMINATE_WAIT_SECONDS = 5 * 60
/** What a reply asks for is obeyed between these, in seconds; beyond them it is a mistake or an attack. */
export const ASKED_WAIT = { least: 30, most: 4 * 60 * 60 } as const

/**
 * Wordings in which servers ask for a wait (Postgrey, milter-greylist, Exim, Microsoft, qmail and others). Nothing in them repeats
 * without a bound: a kilobyte of "greylist" took 5 ms, and 250 replies are recorded at a time.
 */
const ASKED_PATTERNS: readonly RegExp[] = [
  /(?:try|retry|come back|available)\s+(?:again\s+)?(?:in|after)\s+(?:(?:at least|about|another)\s+)?(\d{1,6})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i,
  /(?:greylist|graylist)\w{0,8}\D{0,40}?(\d{1,6})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i,
  /(?:wait|delay(?:ed)?)\s+(?:(?:for|at least|about|another)\s+)*(\d{1,6})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i,
]
/** milter-greylist writes a time of day length: "come back in 00:04:59". */
const ASKED_CLOCK = /(?:try again|retry|come back)\s+(?:in|after)\s+(\d{1,2}):(\d{2}):(\d{2})/i

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** Seconds the reply asks us to wait, within bounds, or undefined. */
export function askedWait(reply: string): number | undefined {
  const clock = ASKED_CLOCK.exec(reply)
  if (clock) return bounded(Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]))
  for (const pattern of ASKED_PATTERNS) {
    const found = pattern.exec(reply)
    if (found) return bounded(Number(found[1]) * (SECONDS[(found[2] ?? 's').charAt(0).toLowerCase()] ?? 1))
  }
  return undefined
}

/**
 * Seconds until the next attempt after `attempt` attempts (1 = the first). `random` is in [0, 1).
 */
export function retryDelay(attempt: number, reply: string, random: number): number {
  const asked = askedWait(reply)
  if (asked !== undefined) return asked
  const minutes = RETRY_MINUTES[Math.min(attempt, RETRY_MINUTES.length) - 1] ?? 1
  return Math.round(minutes * 60 * (1 + JITTER * (2 * random - 1)))
}

function bounded(seconds: number): number {
  return Math.min(Math.max(seconds, ASKED_WAIT.least), ASKED_WAIT.most)
}
