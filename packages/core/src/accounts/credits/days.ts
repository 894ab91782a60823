import { ServiceError } from '../../platform/errors.ts'

/**
 * Parses a calendar day, `yyyy-mm-dd`, to days since 1970-01-01. Throws dateInvalid if it is malformed or does not
 * exist.
 */
export function parseDay(text: string): number {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number)
  const time = Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0)
  // Date.UTC maps years before 100 to the 20th century, and 31 April to 1 May.
  if (year === undefined || new Date(time).toISOString().slice(0, 10) !== text) throw new ServiceError('dateInvalid')
  return time / 86_400_000
}

/**
 * Returns the number of days from the first to the last, inclusive. Throws dateInvalid, and datesReversed also if both
 * are equal (v2 contract section 10).
 */
export function parseSpan(first: string, last: string): number {
  const days = parseDay(last) - parseDay(first) + 1
  if (days <= 1) throw new ServiceError('datesReversed')
  return days
}
