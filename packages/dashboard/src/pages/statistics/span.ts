import type { Period } from '@postrider/core'
import { type AccountCall, field } from '../../frame/call.ts'

/** The days of a page of statistics, and how they are grouped. */
export interface ShownSpan {
  /** `yyyy-mm-dd` in the account's time zone; both days are included. */
  readonly first: string
  readonly last: string
  readonly period: Period
  /** The periods that give this span between one and MAX_POINTS points. */
  readonly periods: readonly Period[]
}

export const PERIODS: readonly Period[] = ['day', 'week', 'month']
const LENGTH: Readonly<Record<Period, number>> = { day: 1, week: 7, month: 28 }
/** Points of a chart: five years by day would be 1,827, which cannot be distinguished. */
export const MAX_POINTS = 100

const DAY = 86_400_000
/** Days of the spans offered by links. */
export const PRESETS = [7, 30, 90, 365] as const
const DEFAULT_DAYS = 30

/** Reads the span of the query; days that are not valid are replaced by the last 30. Without `period`, the finest one. */
export function readSpan({ format, now, query }: AccountCall): ShownSpan {
  const today = format.dayKey(now)
  const last = isDay(field(query, 'to')) ? field(query, 'to') : today
  const first = isDay(field(query, 'from')) ? field(query, 'from') : daysBefore(last, DEFAULT_DAYS - 1)
  const days = daysOf(first, last)
  const periods = PERIODS.filter((period) => days / LENGTH[period] <= MAX_POINTS && days >= LENGTH[period])
  const wanted = PERIODS.find((period) => period === field(query, 'period'))
  const period = periods.find((one) => one === wanted) ?? periods[0] ?? 'month'
  return { first, last, period, periods }
}

/** The days of the same number before the span. */
export function spanBefore({ first, last }: Pick<ShownSpan, 'first' | 'last'>): Pick<ShownSpan, 'first' | 'last'> {
  return { first: daysBefore(first, daysOf(first, last)), last: daysBefore(first, 1) }
}

/** Number of days from the first to the last, both included. */
export function daysOf(first: string, last: string): number {
  return (Date.parse(last) - Date.parse(first)) / DAY + 1
}

/** Returns the day that is `days` before this one. */
export function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY).toISOString().slice(0, 10)
}

/** Whether a text is a day as `yyyy-mm-dd`, from 1970 on. */
function isDay(text: string): boolean {
  const at = text.length === 10 && text >= '1970' ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text
}
