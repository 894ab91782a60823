import type { Reads } from '@postrider/core'
import type { FastifyReply } from 'fastify'

/** Says as of when an answer is that came from a standby. Without the header it is current. */
export function setAsOf(reply: FastifyReply, reads: Reads): void {
  const asOf = reads.asOf()
  if (asOf !== undefined && !reply.sent) reply.header('as-of', asOf.toISOString())
}
