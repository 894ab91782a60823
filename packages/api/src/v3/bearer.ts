import type { FastifyRequest } from 'fastify'

/** Returns the key of `Authorization: Bearer` (RFC 6750 2.1); undefined for any other scheme. */
export function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}
