import type { Rate, RateLimits, Standing } from '../accounts/rate-limits/index.ts'
import type { ByteBudget } from '../platform/concurrency/budget.ts'
import { ServiceError } from '../platform/errors.ts'
import { requireShare, type Share } from '../submission/share.ts'
import { takeRecipients } from './rules/key-rules.ts'

/** The use of limits by one submission: memory while it is being accepted, and recipients of rate limits if it is sent. */
export interface Quotas {
  /** Takes memory for stored content. Throws overloaded, or BeyondShare. */
  hold(bytes: number): void
  /** Takes recipients from a limit of the key or account. Throws rateLimited or keyRestricted. */
  takeRecipients(rate: Rate, count: number): Promise<void>
  /** Takes recipients from a limit that rejects nothing. False if it is reached. */
  takeIfLeft(rate: Rate, count: number): Promise<boolean>
  /** Gives back the memory and, unless the message is or may be sent, what was taken of rate limits. Must be called once, at the end. */
  release(isSent: boolean): void
}

export interface QuotaSources {
  readonly storedBudget: Pick<ByteBudget, 'take' | 'give' | 'total'>
  readonly share: Share
  readonly rateLimits: RateLimits
}

/** Returns the quotas of one submission, which has taken nothing yet. */
export function createQuotas({ storedBudget: budget, share, rateLimits }: QuotaSources): Quotas {
  let held = 0
  const taken: { readonly count: number; readonly standing: Standing }[] = []
  return {
    hold(bytes) {
      requireShare(bytes, share.stored)
      // One message may take the whole budget, so that a message larger than the budget is not always rejected.
      const more = Math.min(bytes, budget.total - held)
      if (!budget.take(more)) throw new ServiceError('overloaded', { reason: 'no capacity for more stored content' })
      held += more
    },
    async takeRecipients(rate, count) {
      taken.push({ count, standing: await takeRecipients(rate, count, rateLimits) })
    },
    async takeIfLeft(rate, count) {
      const standing = await rateLimits.take([rate], count)
      if (!standing.refused) taken.push({ count, standing })
      return !standing.refused
    },
    release(isSent) {
      budget.give(held)
      if (!isSent) for (const { count, standing } of taken) rateLimits.release(count, standing)
    },
  }
}
