import { type Rate, type RateLimits, requireAllowed } from '@postrider/core'
import type { FastifyReply } from 'fastify'

/**
 * Charges the call against its rate limits and reports their status in the response headers, also if the call is rejected; with
 * `onlyRefused`, only then. If there is no limit, which is the default for messages, no header is sent. Throws rateLimited.
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
    // Seconds since 1970, which v3 clients expect too.
    reply.header('x-ratelimit-reset', String(standing.reset))
  }
  requireAllowed(standing)
}
