import { REPORTED_DAYS } from '@postrider/core'
import { UsageError } from '../../command.ts'

/** The days of reports that are summed up. Throws {@link UsageError}. */
export function reportedDays(days: number = REPORTED_DAYS.usual): number {
  if (days >= 1 && days <= REPORTED_DAYS.most) return days
  throw new UsageError(`--days must be from 1 to ${REPORTED_DAYS.most} (got ${days})`)
}

/** How many of these, in per cent rounded down; empty of none. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '' : `${Math.floor((part / whole) * 1000) / 10} %`
}
