import { type Readable, Transform } from 'node:stream'
import { type ByteBudget, holderOf, LIMITS, MAX_CSV_BYTES, ServiceError } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Copies of a body that are in memory at the same time: bytes, text, parsed values and decoded attachments. */
const COPIES = 3

/** Maximum length of a streamed body, in bytes. */
export const STREAM_LIMIT = MAX_CSV_BYTES
/** Memory reserved for a streamed body of any length, in bytes: socket and parser buffers and the rows just read. */
const STREAM_MEMORY = 2 * 1024 * 1024

/** Reserves memory for a body that is processed while it arrives and is not kept. Throws tooLarge or overloaded. */
export function reserveStream(budget: ByteBudget, request: FastifyRequest, reply: FastifyReply): void {
  if (Number(request.headers['content-length'] ?? 0) > STREAM_LIMIT) throw streamTooLarge()
  reservation(budget, request, reply).growTo(STREAM_MEMORY)
}

/**
 * Reserves memory for a body of announced length before it is read, and releases it after the response was sent or the client
 * disconnected. One body may use the whole share of an account; otherwise a large body could never be accepted.
 *
 * Throws tooLarge or overloaded.
 */
export function reserveBody(
  budget: ByteBudget,
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number = LIMITS.messageSize,
): void {
  const size = Number(request.headers['content-length'] ?? 0)
  if (size > limit) throw tooLarge(limit)
  if (size > 0) reservation(budget, request, reply).growTo(size)
}

/**
 * Reserves memory for a body of unannounced length (chunked) as it arrives. Reserving its maximum length would use up the whole
 * budget for one client at a time. If the budget is exhausted, the stream fails with overloaded.
 */
export function reserveAsItComes(
  budget: ByteBudget,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
): Readable {
  const room = reservation(budget, request, reply)
  let size = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      try {
        room.growTo(size)
        done(null, chunk)
      } catch (error) {
        done(error as Error)
      }
    },
  })
  // Read to the end: a response on a connection with unread data is lost when the connection is closed.
  counted.once('error', () => payload.resume())
  payload.once('error', (error) => counted.destroy(error))
  return payload.pipe(counted)
}

/** Up to which fraction of the budget callers are let in whose key is in the body: without a key, they must not keep the others out. */
const UNKNOWN_FRACTION = 1 / 2

/** Returns the most octets of a body with the key in it. */
export function unknownLimit({ total }: ByteBudget): number {
  return Math.floor((total * UNKNOWN_FRACTION) / COPIES)
}

interface Reservation {
  growTo(size: number): void
}

/** One per call. A compressed body is counted once, by the larger of its announced and its uncompressed size. */
const reservations = new WeakMap<FastifyReply, Reservation>()

function reservation(budget: ByteBudget, { principal }: FastifyRequest, reply: FastifyReply): Reservation {
  const known = reservations.get(reply)
  if (known) return known
  const holder = principal && holderOf(principal)
  const share = principal ? budget.total : unknownLimit(budget) * COPIES
  let held = 0
  reply.raw.once('close', () => budget.give(held, holder))
  const made = {
    growTo(size: number) {
      const more = Math.min(size * COPIES, budget.most) - held
      if (more <= 0) return
      if (held + more > share) throw tooLarge(unknownLimit(budget))
      if (budget.used + more > share || !budget.take(more, holder))
        throw new ServiceError('overloaded', { reason: 'body budget exhausted' })
      held += more
    },
  }
  reservations.set(reply, made)
  return made
}

export function streamTooLarge(): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${STREAM_LIMIT / 1024 / 1024} MB` } })
}

export function tooLarge(limit: number = LIMITS.messageSize): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${limit / 1024 / 1024} MB` } })
}
