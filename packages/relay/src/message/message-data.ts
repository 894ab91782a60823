import {
  type ByteBudget,
  type CheckedMessage,
  LIMITS,
  MessageCheck,
  messageTooLarge,
  ServiceError,
} from '@postrider/core'
import type { SMTPServerDataStream } from 'smtp-server'

/** smtp-server's error code for a client that disconnects in the middle of a message. */
export const CLIENT_LOST = 'ECONNECTION'

/** The bytes that one message has reserved in the budget of bodies. */
export class BodyReservation {
  readonly #budget: ByteBudget
  readonly #holder: number | undefined
  #held = 0

  constructor(budget: ByteBudget, holder: number | undefined) {
    this.#budget = budget
    this.#holder = holder
  }

  /** Returns false if the budget has no capacity for this many more bytes. */
  take(octets: number): boolean {
    if (!this.#budget.take(octets, this.#holder)) return false
    this.#held += octets
    return true
  }

  leave(): void {
    this.#budget.give(this.#held, this.#holder)
    this.#held = 0
  }
}

export interface DataRules {
  /** Maximum bytes of a message. */
  readonly most: number
  /** Bytes of its beginning that are collected; the rest is read and discarded. */
  readonly collected: number
  /** Whether line ends and header are checked, without which a message must not be passed on. */
  readonly checked: boolean
}

const RELAYED: DataRules = { most: LIMITS.messageSize, collected: LIMITS.messageSize, checked: true }

/**
 * Collects the data of one message in chunks, the first of which contains the whole header. A message that is rejected is still read
 * to its end, because the reply comes after the final dot; it is not kept, and its reservation is released at once.
 *
 * Throws tooLarge, overloaded, lineEndingInvalid, messageMalformed; an error with the code CLIENT_LOST. The caller must release the
 * message's reservation.
 */
export function collectMessage(
  stream: SMTPServerDataStream,
  reservation: BodyReservation,
  { most, collected, checked }: DataRules = RELAYED,
): Promise<CheckedMessage> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const check = new MessageCheck()
    let length = 0
    let refusal: ServiceError | undefined
    stream.on('data', (piece: Buffer) => {
      if (refusal) return
      const isBeyond = length >= collected
      length += piece.length
      refusal =
        length > most
          ? messageTooLarge(most)
          : ((checked ? check.check(piece) : undefined) ?? (isBeyond ? undefined : reserve(piece.length, reservation)))
      if (refusal) {
        pieces.length = 0
        reservation.leave()
      } else if (!isBeyond) pieces.push(piece)
    })
    stream.once('end', () => {
      if (checked) refusal ??= check.end()
      if (refusal) reject(refusal)
      else resolve(check.checked(pieces))
    })
    stream.once('error', reject)
    stream.once('close', () => {
      // Each stream closes, and the stack of an error that has no effect would take a thirtieth of the relay's time.
      if (stream.readableEnded) return
      reject(Object.assign(new Error('connection lost before the end of the message'), { code: CLIENT_LOST }))
    })
  })
}

/** Overhead of a chunk in bytes: a client may send bytes one by one. */
const CHUNK_OVERHEAD = 256

function reserve(octets: number, reservation: BodyReservation): ServiceError | undefined {
  return reservation.take(octets + CHUNK_OVERHEAD)
    ? undefined
    : new ServiceError('overloaded', { reason: 'body budget exhausted' })
}
