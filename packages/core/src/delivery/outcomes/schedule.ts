/** When a deferred delivery is tried again, and for how long. */
import { type DeliveryClass, URGENT } from '../../accounts/mail-class.ts'

/** Minutes between consecutive attempts, beginning after the first one. The last value repeats. */
export const RETRY_MINUTES: readonly number[] = [1, 5, 15, 30, 60, 120, 240]
/** Hours during which a delivery is tried, from when it is due; counted again after a delivery that was set aside is released. */
export const LIFETIME_HOURS = 72
/** Seconds between consecutive attempts of urgent mail. The last value repeats. */
export const URGENT_RETRY_SECONDS: readonly number[] = [10, 30, 60, 120, 180, 300]
/** Seconds during which urgent mail is tried, unless it has a deadline of its own. */
export const URGENT_LIFETIME_SECONDS = 30 * 60
/** Limits of a message's own deadline, in seconds. */
export const DEADLINE = { least: 60, most: LIFETIME_HOURS * 3600 } as const
/** The fraction by which each delay is randomly lengthened or shortened, so that deliveries that failed together spread out. */
export const JITTER = 0.2
/** Delay after an indeterminate attempt, long enough for the remote server to finish accepting the message (RFC 1047). */
export const INDETERMINATE_WAIT_SECONDS = 5 * 60
/** Limits, in seconds, of the delay that a reply requests. A delay beyond them is a mistake or an attack. */
export const ASKED_WAIT = { least: 30, most: 4 * 60 * 60 } as const
/**
 * Attempts up to which a server may ask to be tried again sooner than by the schedule, as for greylisting. Without a limit, a server that
 * always asks for 30 seconds would get 8,640 attempts of each message.
 */
const HASTY_ATTEMPTS = 5

/**
 * Wordings in which servers request a delay (Postgrey, milter-greylist, Exim, Microsoft, qmail and others). Repetitions are
 * bounded: without bounds a kilobyte of "greylist" took 5 ms, and 250 replies are recorded at a time.
 */
const DELAY_PATTERNS: readonly RegExp[] = [
  /(?:try|retry|come back|available)\s+(?:again\s+)?(?:in|after)\s+(?:(?:at least|about|another)\s+)?(\d{1,6})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i,
  /(?:greylist|graylist)\w{0,8}\D{0,40}?(\d{1,6})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i,
  /(?:wait|delay(?:ed)?)\s+(?:(?:for|at least|about|another)\s+)*(\d{1,6})\s*(s|sec|second|m|min|minute|h|hour)s?\b/i,
]
/** milter-greylist writes the delay as hours, minutes and seconds: "come back in 00:04:59". */
const CLOCK_PATTERN = /(?:try again|retry|come back)\s+(?:in|after)\s+(\d{1,2}):(\d{2}):(\d{2})/i

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** Returns the delay that the reply requests, in seconds and within the limits; undefined if it requests none. */
export function retryAfterOf(reply: string): number | undefined {
  const clock = CLOCK_PATTERN.exec(reply)
  if (clock) return bounded(Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]))
  for (const pattern of DELAY_PATTERNS) {
    const found = pattern.exec(reply)
    if (found) return bounded(Number(found[1]) * (SECONDS[(found[2] ?? 's').charAt(0).toLowerCase()] ?? 1))
  }
  return undefined
}

/**
 * Returns the seconds until the next attempt after `attempt` attempts (1 = the first). `random` is in [0, 1).
 */
export function retryDelay(of: DeliveryClass, attempt: number, reply: string, random: number): number {
  const requested = retryAfterOf(reply)
  if (requested !== undefined && attempt <= HASTY_ATTEMPTS) return requested
  const seconds = of === URGENT ? URGENT_RETRY_SECONDS : RETRY_MINUTES.map((minutes) => minutes * 60)
  const delay = seconds[Math.min(attempt, seconds.length) - 1] ?? 60
  return Math.max(requested ?? 0, Math.round(delay * (1 + JITTER * (2 * random - 1))))
}

/** The part of the stored settings of a message that decides how long it is tried. */
export interface LifetimeSettings {
  readonly class?: string | undefined
  readonly deadline?: number | undefined
}

/** Whether the message is worthless after its deadline, so that it is not tried once more when a worker gets it later than that. */
export function isPerishable(settings: LifetimeSettings): boolean {
  return settings.deadline !== undefined || settings.class === 'urgent'
}

/** Returns for how many seconds a message is tried, from when it is due. */
export function lifetimeOf({ class: of, deadline }: LifetimeSettings): number {
  return deadline ?? (of === 'urgent' ? URGENT_LIFETIME_SECONDS : LIFETIME_HOURS * 3600)
}

function bounded(seconds: number): number {
  return Math.min(Math.max(seconds, ASKED_WAIT.least), ASKED_WAIT.most)
}
