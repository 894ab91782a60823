import { isDatabaseTrouble, type Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { Allowance } from './allowance.ts'
import type { Rate, Standing } from './rate.ts'
import { forgetWindows, takeAllowance } from './store.ts'

export type { Rate, Standing } from './rate.ts'
export { HOUR, MINUTE } from './rate.ts'

export interface RateLimits {
  /**
   * Takes `amount` out of each of the rates, or out of none. Answers how the tightest of them stands.
   *
   * All processes of an installation share an allowance, and together never give more than the limit in one window. What a
   * process took and did not use is lost to the others: at most a fiftieth of the limit for each process.
   *
   * Throws notReady while the database is away.
   */
  take(rates: readonly Rate[], amount?: number): Promise<Standing>
  /** Gives back to the rate told of what was not used after all; it stays with this process. */
  giveBack(amount: number, standing: Standing): void
  /** Forgets windows long past, some at a time; answers how many. */
  forgetOldWindows(): Promise<number>
}

/** Allowances a process remembers; one that is forgotten is asked for again. */
const MOST_ALLOWANCES = 20_000

export function rateLimitsOf(sql: Sql): RateLimits {
  const allowances = new Map<string, Allowance>()

  function allowanceOf(rate: Rate): Allowance {
    // Two limits on one allowance are two stocks, or the narrower one would use what was taken for the wider one.
    const key = `${rate.name} ${rate.limit}`
    const known = allowances.get(key)
    if (known) return known
    if (allowances.size >= MOST_ALLOWANCES) allowances.delete(allowances.keys().next().value as string)
    const allowance = new Allowance(rate, (needed, wanted) => takeAllowance(sql, rate, needed, wanted))
    allowances.set(key, allowance)
    return allowance
  }

  function giveBack(amount: number, standing: Standing): void {
    allowanceOf(standing.rate).giveBack(amount, standing)
  }

  return {
    async take(rates, amount = 1) {
      const taken: Standing[] = []
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
      if (taken.length === 0) throw new Error('no rate to draw on')
      return taken.reduce((tightest, one) => (one.remaining < tightest.remaining ? one : tightest))
    },
    giveBack,
    forgetOldWindows: () => forgetWindows(sql),
  }
}

/** Throws rateLimited where a standing is a refusal. */
export function requireAllowed({ refused, rate, retryAfter }: Standing): void {
  if (!refused) return
  const { limit, what } = rate
  throw new ServiceError('rateLimited', { values: { limit, what, seconds: retryAfter }, retryAfter })
}
