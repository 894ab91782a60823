import { type Readable, Transform } from 'node:stream'
import { type ByteBudget, holderOf, LIMITS, ServiceError } from '@postrider/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A body is in memory up to this many times at once: octets, text, parsed values, decoded attachments. */
const COPIES = 3

/** A streamed body may be this long. */
export const STREAM_LIMIT = 128 * 1024 * 1024
/** Of a streamed body so much is in memory, whatever its length: what waits in sockets and parser, and the rows just read. */
const STREAM_ROOM = 2 * 1024 * 1024

/** Reserves room for a body that is read as it comes and not kept. Throws tooLarge or overloaded. */
export function reserveStream(budget: ByteBudget, request: FastifyRequest, reply: FastifyReply): void {
  if (Number(request.headers['content-length'] ?? 0) > STREAM_LIMIT) throw streamTooLarge()
  reservation(budget, request, reply).growTo(STREAM_ROOM)
}

/**
 * Reserves room for a body of announced length before it is read, and gives it back when the answer is out or the client
 * gone. One body may take all that one account may have, so that none is refused for ever.
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
  if (size > limit) throw tooLarge()
  if (size > 0) reservation(budget, request, reply).growTo(size)
}

/**
 * Reserves room for a body of unannounced length (chunked) as it arrives: what it may grow to would be the whole budget, and
 * one client at a time. Beyond the budget the stream fails with overloaded.
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
  // Read to its end all the same: an answer on a connection with unread data is lost when it is closed.
  counted.once('error', () => payload.resume())
  payload.once('error', (error) => counted.destroy(error))
  return payload.pipe(counted)
}

interface Reservation {
  growTo(size: number): void
}

/** One for each call, though a zipped body is reserved twice: as it was announced, and as it is unpacked. */
const reservations = new WeakMap<FastifyReply, Reservation>()

function reservation(budget: ByteBudget, { principal }: FastifyRequest, reply: FastifyReply): Reservation {
  const known = reservations.get(reply)
  if (known) return known
  const holder = holderOf(principal)
  let held = 0
  reply.raw.once('close', () => budget.give(held, holder))
  const made = {
    growTo(size: number) {
      const more = Math.min(size * COPIES, budget.most) - held
      if (more <= 0) return
      if (!budget.take(more, holder)) throw new ServiceError('overloaded', { reason: 'no room for another body' })
      held += more
    },
  }
  reservations.set(reply, made)
  return made
}

export function streamTooLarge(): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${STREAM_LIMIT / 1024 / 1024} MB` } })
}

export function tooLarge(): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: '30 MB' } })
}
