import type { FastifyRequest } from 'fastify'

/**
 * Returns the Idempotency-Key header. All entry points share one key space: a repeated key returns the first response, whichever
 * entry point is used.
 */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  return Array.isArray(key) ? key.join(',') : key
}
