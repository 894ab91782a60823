import { type ByteBudget, LIMITS, ServiceError } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A body is in memory up to this many times at once: octets, text, parsed values, decoded attachments. */
const COPIES = 3

/**
 * Reserves room for a body before it is read, and gives it back when the answer is out or the client gone. A body of
 * unannounced length reserves what it may grow to.
 *
 * Throws tooLarge or overloaded.
 */
export function reserveBody(budget: ByteBudget, request: FastifyRequest, reply: FastifyReply): void {
  const announced = request.headers['content-length']
  const chunked = request.headers['transfer-encoding'] !== undefined
  const size = announced !== undefined ? Number(announced) : chunked ? LIMITS.messageSize : 0
  if (size === 0) return
  if (size > LIMITS.messageSize) throw tooLarge()
  const octets = size * COPIES
  if (!budget.take(octets)) throw new ServiceError('overloaded', { reason: 'no room for another body' })
  reply.raw.once('close', () => budget.give(octets))
}

export function tooLarge(): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: '30 MB' } })
}
