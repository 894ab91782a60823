import { ServiceError } from '../../platform/errors.ts'

/** Throws dateInvalid unless the text is a day as `yyyy-mm-dd`, and one that the calendar has. */
export function parseDay(text: string): number {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number)
  const time = Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0)
  // Date.UTC takes the years before 100 for those of the last century, and 31 April for 1 May.
  if (year === undefined || new Date(time).toISOString().slice(0, 10) !== text) throw new ServiceError('dateInvalid')
  return time / 86_400_000
}

/** Throws dateInvalid, datesReversed (also when they are equal, v2 contract section 10). Answers the days from one to the other. */
export function parseSpan(first: string, last: string): number {
  const days = parseDay(last) - parseDay(first) + 1
  if (days <= 1) throw new ServiceError('datesReversed')
  return days
}
