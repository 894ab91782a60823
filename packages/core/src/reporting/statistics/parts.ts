import { parseDay } from '../../accounts/credits/days.ts'
import { type Subject, WEEK } from './metrics.ts'
import { lastOf, type Period, type Span, textOf } from './periods.ts'

/** Rollups of one subject in a date range; those of weeks have the day on which the week begins. */
export interface Part extends Span {
  /** A value of roll_ups.subject. */
  readonly subject: string
  /** Whether it has the names without their own rollups. */
  readonly isOther: boolean
}

/** The requested rollups of a subject. */
export interface Sought {
  readonly subject: Subject
  readonly span: Span
  /** The first day that is not summed; null if none is (sum-names.ts). */
  readonly through: string | null
}

/**
 * Returns the parts that have the counts of single names: of weeks that lie in the date range, and in one period if they are told
 * apart, and of the days around them.
 */
export function partsOfNames({ subject, span, through }: Sought, period?: Period): Part[] {
  const parts: Part[] = []
  const [end, summed] = [parseDay(span.last), through === null ? 0 : parseDay(through)]
  for (let day = parseDay(span.first); day <= end; ) {
    const sunday = lastOf(day, 'week')
    const isWhole = sunday - day === 6 && sunday <= end && sunday < summed
    const isWeek = isWhole && (period === undefined || lastOf(day, period) >= sunday)
    const last = isWeek ? sunday : day
    const before = parts.at(-1)
    const of = isWeek ? `${subject}${WEEK}` : subject
    if (before?.subject === of) parts[parts.length - 1] = { ...before, last: textOf(last) }
    else parts.push({ subject: of, isOther: false, first: textOf(day), last: textOf(last) })
    day = last + 1
  }
  return parts
}

/** Returns the same parts with those of the names without their own rollups. */
export function withOthers(parts: readonly Part[]): Part[] {
  return parts.flatMap((part) => [part, { ...part, subject: `other ${part.subject}`, isOther: true }])
}

/** Returns the parts that have the counts of all names together, by day. */
export function partsOfAll({ subject, span, through }: Sought): Part[] {
  const [first, end] = [parseDay(span.first), parseDay(span.last)]
  const summed = through === null ? first : Math.min(Math.max(parseDay(through), first), end + 1)
  const parts: Part[] = []
  if (summed > first)
    parts.push({ subject: `all ${subject}`, isOther: false, first: span.first, last: textOf(summed - 1) })
  if (summed <= end) parts.push(...withOthers([{ subject, isOther: false, first: textOf(summed), last: span.last }]))
  return parts
}
