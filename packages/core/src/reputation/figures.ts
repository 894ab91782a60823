/** The counts of one hour of an account. */
export interface HourCounts {
  readonly hour: Date
  readonly accepted: number
  readonly delivered: number
  readonly hard: number
  readonly complained: number
}

type Counts = Omit<HourCounts, 'hour'>

/** The counts that an account is evaluated by. */
export interface Figures {
  /** The last 60 minutes: the current hour, and of the one before the part that is not older, if it was even. */
  readonly lastHour: Counts
  /** The last 24 hours. */
  readonly day: Counts
  /** The same, or the hours with the last 1000 outcomes if those are more. */
  readonly recent: Counts & { readonly since: Date }
  /** The most messages accepted in one of the hours of 30 days before the last two; null if the account has a history of less than a week. */
  readonly busiestHour: number | null
  /** The most messages delivered in the last 60 minutes, or in one of the hours of the day. */
  readonly deliveredPerHour: number
}

const HOUR_MS = 3_600_000
const RECENT_OUTCOMES = 1000
const HISTORY_HOURS = 7 * 24
const ZERO: Counts = { accepted: 0, delivered: 0, hard: 0, complained: 0 }

/** Returns the figures of an account, whose hours are given with the latest first. */
export function figuresOf(hours: readonly HourCounts[], now: Date): Figures {
  const current = Math.floor(now.getTime() / HOUR_MS)
  const age = ({ hour }: HourCounts): number => current - Math.floor(hour.getTime() / HOUR_MS)
  const left = 1 - (now.getTime() % HOUR_MS) / HOUR_MS
  const at = (hoursAgo: number): Counts => hours.find((one) => age(one) === hoursAgo) ?? ZERO
  const today = hours.filter((one) => age(one) < 24)
  const before = hours.filter((one) => age(one) >= 2)
  const lastHour = plus(at(0), times(at(1), left))
  const oldest = hours.at(-1)
  return {
    lastHour,
    day: sum(today),
    recent: recentOf(hours, age),
    busiestHour: oldest && age(oldest) >= HISTORY_HOURS ? Math.max(0, ...before.map(({ accepted }) => accepted)) : null,
    deliveredPerHour: Math.max(lastHour.delivered, ...today.map(({ delivered }) => delivered)),
  }
}

function recentOf(hours: readonly HourCounts[], age: (one: HourCounts) => number): Figures['recent'] {
  let counts = ZERO
  let since = new Date(0)
  for (const one of hours) {
    if (age(one) >= 24 && counts.delivered + counts.hard >= RECENT_OUTCOMES) break
    counts = plus(counts, one)
    since = one.hour
  }
  return { ...counts, since }
}

function sum(all: readonly Counts[]): Counts {
  return all.reduce(plus, ZERO)
}

function plus(a: Counts, b: Counts): Counts {
  return combine(a, b, (one, other) => one + other)
}

/** The counts that were there before are not counted again. */
export function minus(a: Counts, b: Counts): Counts {
  return combine(a, b, (one, other) => Math.max(0, one - other))
}

function times(a: Counts, factor: number): Counts {
  return combine(a, ZERO, (one) => Math.round(one * factor))
}

function combine(a: Counts, b: Counts, how: (one: number, other: number) => number): Counts {
  return {
    accepted: how(a.accepted, b.accepted),
    delivered: how(a.delivered, b.delivered),
    hard: how(a.hard, b.hard),
    complained: how(a.complained, b.complained),
  }
}
