import type { FastifyRequest } from 'fastify'

/** Returns the caller's `traceparent`, so that its trace shows what became of the message. One that is not valid is ignored by `accept`. */
export function traceParentOf({ headers: { traceparent } }: FastifyRequest): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined
}
