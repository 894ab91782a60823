import { isDatabaseTrouble, type Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { Allowance } from './allowance.ts'
import type { Rate, RateLimitStatus } from './rate.ts'
import { forgetWindows, takeAllowance } from './store.ts'

export type { Rate, RateLimitStatus as Standing } from './rate.ts'
export { HOUR, MINUTE } from './rate.ts'

export interface RateLimits {
  /**
   * Takes `amount` from all of the rates, or from none. Returns the status of the one with the least remaining.
   *
   * All processes of an installation share a quota and together never exceed the limit in one window. An amount that a
   * process took and did not use is not available to the others: at most a fiftieth of the limit per process.
   *
   * Throws notReady while the database is unavailable.
   */
  take(rates: readonly Rate[], amount?: number): Promise<RateLimitStatus>
  /** Returns an unused amount to the rate of the status; it stays with this process. */
  giveBack(amount: number, standing: RateLimitStatus): void
  /** Deletes a batch of windows that ended long ago; returns how many. */
  forgetOldWindows(): Promise<number>
}

/** Maximum number of quotas that a process keeps; a dropped one is loaded again. */
const MAX_ALLOWANCES = 20_000

export function createRateLimits(sql: Sql): RateLimits {
  const allowances = new Map<string, Allowance>()

  function allowanceOf(rate: Rate): Allowance {
    // One quota with two limits needs two entries, or the smaller limit would use what was taken for the larger one.
    const key = `${rate.name} ${rate.limit}`
    const known = allowances.get(key)
    if (known) return known
    if (allowances.size >= MAX_ALLOWANCES) allowances.delete(allowances.keys().next().value as string)
    const allowance = new Allowance(rate, (needed, wanted) => takeAllowance(sql, rate, needed, wanted))
    allowances.set(key, allowance)
    return allowance
  }

  function giveBack(amount: number, standing: RateLimitStatus): void {
    allowanceOf(standing.rate).giveBack(amount, standing)
  }

  return {
    async take(rates, amount = 1) {
      const taken: RateLimitStatus[] = []
      try {
        for (const rate of rates) {
          const standing = await allowanceOf(rate).take(amount)
          if (standing.refused) {
            for (const other of taken) giveBack(amount, other)
            return standing
          }
          taken.push(standing)
        }
      } catch (error) {
        if (!isDatabaseTrouble(error)) throw error
        throw new ServiceError('notReady', { reason: 'could not draw on the rate limit', cause: error })
      }
      if (taken.length === 0) throw new Error('no rates given')
      return taken.reduce((tightest, one) => (one.remaining < tightest.remaining ? one : tightest))
    },
    giveBack,
    forgetOldWindows: () => forgetWindows(sql),
  }
}

/** Throws rateLimited if the status is a rejection. */
export function requireAllowed({ refused, rate, retryAfter }: RateLimitStatus): void {
  if (!refused) return
  const { limit, what } = rate
  throw new ServiceError('rateLimited', { values: { limit, what, seconds: retryAfter }, retryAfter })
}
