import { type Rate, type RateLimits, requireAllowed } from '@postrider/core'
import type { FastifyReply } from 'fastify'

/**
 * Takes the call out of its allowances, and says in the answer's header how they stand, also when it is refused; `onlyRefused`:
 * only then. Nothing is said where there is no limit, as for mail unless one was set. Throws rateLimited.
 */
export async function keepRate(
  rateLimits: RateLimits,
  rates: readonly Rate[] | null,
  reply: FastifyReply,
  onlyRefused = false,
): Promise<void> {
  if (rates === null) return
  const standing = await rateLimits.take(rates)
  if (standing.refused || !onlyRefused) {
    reply.header('x-ratelimit-limit', String(standing.rate.limit))
    reply.header('x-ratelimit-remaining', String(standing.remaining))
    // Seconds since 1970, as clients of v3 also expect it.
    reply.header('x-ratelimit-reset', String(standing.reset))
  }
  requireAllowed(standing)
}
