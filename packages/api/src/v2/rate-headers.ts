import { type RateLimits, requireAllowed } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Takes the call out of its allowances, and says in the answer's header how they stand, also when it is refused. Nothing is
 * said where there is no limit, as for sendEmail unless one was set. Throws rateLimited.
 */
export async function keepRate(rateLimits: RateLimits, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { calls, sends } = request.principal.rates
  const rates = request.routeOptions.config.operation ? calls : sends
  if (rates === null) return
  const standing = await rateLimits.take(rates)
  reply.header('x-ratelimit-limit', String(standing.rate.limit))
  reply.header('x-ratelimit-remaining', String(standing.remaining))
  // Seconds since 1970, as clients of v3 also expect it.
  reply.header('x-ratelimit-reset', String(standing.reset))
  requireAllowed(standing)
}
