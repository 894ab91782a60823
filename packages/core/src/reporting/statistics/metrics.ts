import { METRICS, type Metric } from '../../events/event-types.ts'

/**
 * What is counted, as the columns of roll_ups. An event counts once, except for the first of its kind of a delivery, which
 * counts as `unique_…` too, and for drops: each counts as `dropped`, by the suppression's reason, and as `late_dropped` if it was
 * processed before.
 */
export { METRICS, type Metric } from '../../events/event-types.ts'

/** How often each thing happened. */
export type Counts = Readonly<Record<Metric, number>>

/** Drops by the reasons of suppressions; what else is dropped (a message cancelled, a person forgotten, a domain lost) has no count of its own. */
export const DROPS: Readonly<Partial<Record<Metric, readonly string[]>>> = {
  bounce_dropped: ['hardbounce'],
  complaint_dropped: ['abuse'],
  unsubscribe_dropped: ['unsubscribe', 'manual', 'global'],
}

/** How often each metric counts in a sum of several. */
export type Weights = Readonly<Partial<Record<Metric, 1 | -1>>>

export const NO_COUNTS = Object.fromEntries(METRICS.map((metric) => [metric, 0])) as Counts

/** What is counted apart, besides an account's total. A recipient domain is what the API calls a site. */
export const SUBJECTS = ['domain', 'tag', 'recipient_domain'] as const
export type Subject = (typeof SUBJECTS)[number]

/** Tags, and recipient domains, that are counted apart on one day of an account; what has any further one is counted together. */
export const NAMES_A_DAY = 1000
