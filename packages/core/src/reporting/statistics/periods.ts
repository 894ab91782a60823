import { parseDay } from '../../accounts/credits/days.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'

export const PERIODS = ['day', 'week', 'month'] as const
export type Period = (typeof PERIODS)[number]

/** A date range with both days included, as `yyyy-mm-dd`. */
export interface Span {
  readonly first: string
  readonly last: string
}

/** Maximum days of a date range: five years. */
export const MAX_DAYS = 1827
/** Maximum days of a date range with separate counts of each name, of which there are up to 1000 per day. */
export const MAX_DAYS_WITH_NAMES = 366

/** Checks a date range; equal days mean one day. Throws dateInvalid, datesReversed or parameterInvalid (enddate: too many days). */
export function requireSpan({ first, last }: Span, most: number): void {
  const days = parseDay(last) - parseDay(first) + 1
  if (days < 1) throw new ServiceError('datesReversed')
  if (days > most) throw invalidParameter('enddate', `date range must be at most ${most} days, including the first`)
}

/** Returns the days, ISO weeks or months of a date range after the first `offset`. The first and last period are cut to the range. */
export function periodsOf(span: Span, period: Period, { limit, offset }: { limit: number; offset: number }) {
  const periods: Span[] = []
  const end = parseDay(span.last)
  for (let from = parseDay(span.first); from <= end; ) {
    const to = Math.min(lastOf(from, period), end)
    periods.push({ first: textOf(from), last: textOf(to) })
    from = to + 1
  }
  return { periods: periods.slice(offset, offset + limit), total: periods.length }
}

/** Returns the last day of the period that contains a day. Days are counted from 1970-01-01, a Thursday. */
export function lastOf(day: number, period: Period): number {
  if (period === 'day') return day
  if (period === 'week') return day + 6 - ((((day + 3) % 7) + 7) % 7)
  const date = new Date(day * DAY)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0) / DAY
}

const DAY = 86_400_000

/** Returns `yyyy-mm-dd`. */
export function textOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10)
}
