import { type ByteBudget, LIMITS, ServiceError } from '@postrider/core'
import type { SMTPServerDataStream } from 'smtp-server'
import { headerTooLarge, MAX_HEADER } from './header.ts'

/** A CR without LF, a LF without CR, a NUL. */
const WRONG = /\r(?!\n)|(?<!\r)\n|\0/

/** The library's error for a client that left in the middle of a message. */
export const CLIENT_LOST = 'ECONNECTION'

/** What one message takes of the budget of bodies. */
export class Room {
  readonly #budget: ByteBudget
  readonly #holder: number | undefined
  #held = 0

  constructor(budget: ByteBudget, holder: number | undefined) {
    this.#budget = budget
    this.#holder = holder
  }

  /** Answers false when there is no room for so many octets more. */
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

/**
 * Collects the data of one message, in pieces of which the first holds all of the header. What we could not take is read to its
 * end all the same, since the reply comes after the final dot; it is not kept, and its room is free for others meanwhile.
 *
 * Throws tooLarge, overloaded, lineEndingInvalid, messageMalformed; an error with the code CLIENT_LOST. The room that the message
 * takes is the caller's to leave.
 */
export function collectMessage(stream: SMTPServerDataStream, room: Room): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const lines = new LineEndings()
    const head = new HeadSearch()
    let length = 0
    let refusal: ServiceError | undefined
    stream.on('data', (piece: Buffer) => {
      if (refusal) return
      length += piece.length
      refusal =
        length > LIMITS.messageSize
          ? tooLarge()
          : (lines.check(piece) ?? head.check(piece) ?? reserve(piece.length, room))
      if (refusal) {
        pieces.length = 0
        room.leave()
      } else pieces.push(piece)
    })
    stream.once('end', () => {
      refusal ??= lines.end()
      if (refusal) reject(refusal)
      else resolve(head.first(pieces))
    })
    stream.once('error', reject)
    // Ended early without a word; after the end it says nothing new.
    stream.once('close', () => reject(Object.assign(new Error('the message ended early'), { code: CLIENT_LOST })))
  })
}

/** Looks for the empty line that ends the header (RFC 5322 2.1), once in each piece, and no further than a header may go. */
class HeadSearch {
  #pieces = 0
  #length = 0
  #found = false
  /** The last octets before the piece, in which the empty line may have begun; the message may begin with it. */
  #before: Buffer = CRLF

  check(piece: Buffer): ServiceError | undefined {
    if (this.#found) return undefined
    this.#pieces++
    const joint = Buffer.concat([this.#before, piece.subarray(0, 3)])
    this.#found = joint.includes(EMPTY_LINE) || piece.includes(EMPTY_LINE)
    this.#length += piece.length
    this.#before = Buffer.concat([this.#before, piece.subarray(-3)]).subarray(-3)
    return !this.#found && this.#length > MAX_HEADER ? headerTooLarge() : undefined
  }

  /** The pieces with those of the header in one. */
  first(pieces: readonly Buffer[]): readonly Buffer[] {
    const [first = Buffer.alloc(0)] = pieces
    const count = this.#pieces
    return count <= 1 ? [first, ...pieces.slice(1)] : [Buffer.concat(pieces.slice(0, count)), ...pieces.slice(count)]
  }
}

const CRLF = Buffer.from('\r\n')
const EMPTY_LINE = Buffer.from('\r\n\r\n')

/** Octets that a piece takes besides its own: a client may send them one by one. */
const PIECE = 256

function reserve(octets: number, room: Room): ServiceError | undefined {
  return room.take(octets + PIECE) ? undefined : new ServiceError('overloaded', { reason: 'no room for another body' })
}

export function tooLarge(): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${LIMITS.messageSize} bytes` } })
}

/**
 * A bare CR or LF ends a line for some readers and not for others; passed on, it would let a message smuggle another one
 * behind it (CVE-2023-51764 and its kin). Refused, never mended: one documented choice.
 */
class LineEndings {
  #lastWasCr = false

  check(chunk: Buffer): ServiceError | undefined {
    // The second half of a line end may come with the next chunk.
    const text = (this.#lastWasCr ? '\r' : '') + chunk.toString('latin1')
    this.#lastWasCr = text.endsWith('\r')
    // An expression does it in a third of the time that looking for each line end takes.
    const wrong = WRONG.exec(this.#lastWasCr ? text.slice(0, -1) : text)
    if (!wrong) return undefined
    return wrong[0] === '\0' ? new ServiceError('messageMalformed', { values: { problem: 'contains NUL' } }) : bare()
  }

  end(): ServiceError | undefined {
    return this.#lastWasCr ? bare() : undefined
  }
}

function bare(): ServiceError {
  return new ServiceError('lineEndingInvalid')
}
