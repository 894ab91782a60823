import { isDatabaseTrouble, type Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { Quota } from './quota.ts'
import type { Rate, RateLimitStatus } from './rate.ts'
import { forgetWindows, takeFromQuota } from './store.ts'

export type { Rate, RateLimitStatus as Standing } from './rate.ts'
export { DAY, HOUR, MINUTE } from './rate.ts'

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
  /** The same for one, which can be given back as long as its windows last; it stays with this process. */
  takeReturnable(rates: readonly Rate[]): Promise<Allowance>
  /** Returns an unused amount to the rate of the status; it stays with this process. */
  release(amount: number, standing: RateLimitStatus): void
  /** Deletes a batch of windows that ended long ago; returns how many. */
  forgetOldWindows(): Promise<number>
}

/** An amount that was taken, unless the status is a rejection. */
export interface Allowance {
  readonly standing: RateLimitStatus
  giveBack(): void
}

/** Maximum number of quotas that a process keeps; a dropped one is loaded again. */
const MAX_QUOTAS = 20_000

export function createRateLimits(sql: Sql): RateLimits {
  const quotas = new Map<string, Quota>()

  function quotaOf(rate: Rate): Quota {
    // One quota with two limits needs two entries, or the smaller limit would use what was taken for the larger one.
    const key = `${rate.name} ${rate.limit}`
    const known = quotas.get(key)
    if (known) return known
    if (quotas.size >= MAX_QUOTAS) quotas.delete(quotas.keys().next().value as string)
    const quota = new Quota(rate, (needed, wanted) => takeFromQuota(sql, rate, needed, wanted))
    quotas.set(key, quota)
    return quota
  }

  function release(amount: number, standing: RateLimitStatus): void {
    quotaOf(standing.rate).release(amount, standing)
  }

  async function takeAll(rates: readonly Rate[], amount: number): Promise<Allowance> {
    const taken: RateLimitStatus[] = []
    const giveBack = (): void => {
      for (const one of taken.splice(0)) release(amount, one)
    }
    try {
      for (const rate of rates) {
        const standing = await quotaOf(rate).take(amount)
        if (standing.refused) {
          giveBack()
          // In the words of this call: rates that share a quota may say differently whose limit it is.
          return { standing: { ...standing, rate }, giveBack }
        }
        taken.push(standing)
      }
    } catch (error) {
      if (!isDatabaseTrouble(error)) throw error
      throw new ServiceError('notReady', { reason: 'could not draw on the rate limit', cause: error })
    }
    if (taken.length === 0) throw new Error('no rates given')
    const standing = taken.reduce((tightest, one) => (one.remaining < tightest.remaining ? one : tightest))
    return { standing, giveBack }
  }

  return {
    take: async (rates, amount = 1) => (await takeAll(rates, amount)).standing,
    takeReturnable: (rates) => takeAll(rates, 1),
    release,
    forgetOldWindows: () => forgetWindows(sql),
  }
}

/** Throws rateLimited if the status is a rejection. */
export function requireAllowed({ refused, rate, retryAfter }: RateLimitStatus): void {
  if (!refused) return
  const { limit, what } = rate
  throw new ServiceError('rateLimited', { values: { limit, what, seconds: retryAfter }, retryAfter })
}
