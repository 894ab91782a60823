import { METRICS, type Metric } from '../../events/event-types.ts'

/**
 * The metrics, which are columns of roll_ups. An event counts once, with two exceptions: the first of its type of a delivery also
 * counts as `unique_…`; a drop also counts by the suppression's reason, and as `late_dropped` if it was processed before.
 */
export { METRICS, type Metric } from '../../events/event-types.ts'

/** Number of events of each metric. */
export type Counts = Readonly<Record<Metric, number>>

/** Drops by the reasons of suppressions. Other drops (message cancelled, recipient erased, domain lost) have no separate metric. */
export const DROPS: Readonly<Partial<Record<Metric, readonly string[]>>> = {
  bounce_dropped: ['hardbounce'],
  complaint_dropped: ['abuse'],
  unsubscribe_dropped: ['unsubscribe', 'manual', 'global'],
}

/** The weight of each metric in a sum of several. */
export type Weights = Readonly<Partial<Record<Metric, 1 | -1>>>

export const NO_COUNTS = Object.fromEntries(METRICS.map((metric) => [metric, 0])) as Counts

/** The subjects of separate counts, besides an account's total. The API calls a recipient domain a site. */
export const SUBJECTS = ['domain', 'tag', 'recipient_domain'] as const
export type Subject = (typeof SUBJECTS)[number]
/** Ends the subject of rollups of a week, which are made for accounts with many names (sum-names.ts). */
export const WEEK = ' week'

/** Maximum number of tags, and of recipient domains, counted separately per account and day. Further ones are counted together. */
export const NAMES_A_DAY = 1000
