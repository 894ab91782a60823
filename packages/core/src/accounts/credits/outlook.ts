import type { AnySql } from '../../platform/database/database.ts'
import type { Credit } from './credit.ts'
import { lastGrant, selectCredit, selectPayers, selectUses, type Use } from './store.ts'

/** An account's credit, how fast it is used, and how long it lasts at this pace. */
export interface CreditOutlook {
  readonly credit: Credit
  /** Recipients in the last 30 days, of the account and of subaccounts that use its credit. */
  readonly used: number
  /** Recipients per day: the mean of the last 14 days, or of the days since the first use in them. */
  readonly perDay: number
  /** When the credit is used up at this pace; null if that is not within a year, or without a limit. */
  readonly runsOutAt: Date | null
  /** The credit that was there after the last change by a person; null if unknown or unlimited. */
  readonly granted: number | null
  /** Whether 80 % of what was granted is used. */
  readonly isLow: boolean
}

const DAY = 86_400_000
const MAX_DAYS = 365
/** Owners are warned when 1 credit of 5 that were granted is left: 80 % are used. A whole number, since 1 - 0.8 is less than 0.2. */
export const LOW_IN = 5
const DAYS_OF_PERIOD = { day: 1, week: 7, month: 30.4 } as const

/** Returns the mean use per day. */
export function perDayOf({ recent, days }: Use): number {
  return recent / days
}

/** Returns the time when the credit is used up at this pace; null if that is not within a year. */
export function runsOut({ limited, available, recurring }: Credit, perDay: number, now: Date): Date | null {
  if (!limited || available === null) return null
  if (available === 0) return now
  const perDayGranted = recurring?.active ? recurring.amount / DAYS_OF_PERIOD[recurring.every] : 0
  const days = perDay > perDayGranted ? available / (perDay - perDayGranted) : Number.POSITIVE_INFINITY
  return days > MAX_DAYS ? null : new Date(now.getTime() + days * DAY)
}

/** See CreditOutlook. */
export async function outlook(sql: AnySql, accountId: number): Promise<CreditOutlook> {
  const [credit, payers, balance] = await Promise.all([
    selectCredit(sql, accountId),
    selectPayers(sql, accountId),
    lastGrant(sql, accountId),
  ])
  const { now, uses } = await selectUses(sql, payers)
  const all = [...uses.values()]
  const sum = (of: (use: Use) => number) => all.reduce((total, use) => total + of(use), 0)
  const perDay = sum(perDayOf)
  const granted = credit.limited && balance !== null ? balance + (credit.recurring?.amount ?? 0) : null
  return {
    credit,
    used: sum(({ used }) => used),
    perDay,
    runsOutAt: runsOut(credit, perDay, now),
    granted,
    isLow: granted !== null && granted > 0 && (credit.available ?? 0) * LOW_IN <= granted,
  }
}
