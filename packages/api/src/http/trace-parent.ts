import type { Submission } from '@postrider/core'
import type { FastifyRequest } from 'fastify'

/** Adds the caller's `traceparent`, so that its trace shows what became of the message. One that is not valid is ignored by `accept`. */
export function withTraceParent(submission: Submission, { headers: { traceparent } }: FastifyRequest): Submission {
  return typeof traceparent === 'string' ? { ...submission, traceParent: traceparent } : submission
}
