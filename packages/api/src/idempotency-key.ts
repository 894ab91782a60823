import type { FastifyRequest } from 'fastify'

/** One space of keys for all doors: the first answer under a key comes again, whichever door asks. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  return Array.isArray(key) ? key.join(',') : key
}
