import { type ByteBudget, LIMITS, LineLengths, PartHeads, ServiceError } from '@postrider/core'
import type { SMTPServerDataStream } from 'smtp-server'
import { CRLF, EMPTY_LINE, headerTooLarge, MAX_HEADER } from './header.ts'

/** A CR without LF, a LF without CR, a NUL. */
const INVALID = /\r(?!\n)|(?<!\r)\n|\0/

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

export interface CollectedMessage {
  /** The first contains the whole header. */
  readonly pieces: readonly Buffer[]
  /** Offset of the last line that is longer than SMTP permits; -1 if there is none, or if lines were not checked. */
  readonly lastLongLine: number
  /** Whether parts of it may have to be corrected. */
  readonly hasOddParts: boolean
}

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
): Promise<CollectedMessage> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const lines = new LineEndings()
    const head = new HeadSearch()
    let length = 0
    let refusal: ServiceError | undefined
    stream.on('data', (piece: Buffer) => {
      if (refusal) return
      const isBeyond = length >= collected
      length += piece.length
      refusal =
        length > most
          ? tooLarge(most)
          : ((checked ? (lines.check(piece) ?? head.check(piece)) : undefined) ??
            (isBeyond ? undefined : reserve(piece.length, reservation)))
      if (refusal) {
        pieces.length = 0
        reservation.leave()
      } else if (!isBeyond) pieces.push(piece)
    })
    stream.once('end', () => {
      if (checked) refusal ??= lines.end()
      if (refusal) reject(refusal)
      else resolve({ pieces: head.first(pieces), lastLongLine: lines.lengths.lastAt, hasOddParts: lines.heads.areOdd })
    })
    stream.once('error', reject)
    stream.once('close', () => {
      // Each stream closes, and the stack of an error that has no effect would take a thirtieth of the relay's time.
      if (stream.readableEnded) return
      reject(Object.assign(new Error('connection lost before the end of the message'), { code: CLIENT_LOST }))
    })
  })
}

/** Finds the empty line that ends the header (RFC 5322 2.1). Searches each chunk once, up to the maximum header size. */
class HeadSearch {
  #pieces = 0
  #length = 0
  #found = false
  /** The last bytes before the chunk, where the empty line may have begun. Initially CRLF, as the message may begin with it. */
  #before: Buffer = CRLF

  check(piece: Buffer): ServiceError | undefined {
    if (this.#found) return undefined
    this.#pieces++
    // The usual case.
    this.#found = piece.includes(EMPTY_LINE)
    if (this.#found) return undefined
    const joint = Buffer.concat([this.#before, piece.subarray(0, 3)])
    this.#found = joint.includes(EMPTY_LINE)
    this.#length += piece.length
    this.#before = Buffer.concat([this.#before, piece.subarray(-3)]).subarray(-3)
    return !this.#found && this.#length > MAX_HEADER ? headerTooLarge() : undefined
  }

  /** The chunks, with those that contain the header joined. */
  first(pieces: readonly Buffer[]): readonly Buffer[] {
    const [first = Buffer.alloc(0)] = pieces
    const count = this.#pieces
    return count <= 1 ? [first, ...pieces.slice(1)] : [Buffer.concat(pieces.slice(0, count)), ...pieces.slice(count)]
  }
}

/** Overhead of a chunk in bytes: a client may send bytes one by one. */
const CHUNK_OVERHEAD = 256

function reserve(octets: number, reservation: BodyReservation): ServiceError | undefined {
  return reservation.take(octets + CHUNK_OVERHEAD)
    ? undefined
    : new ServiceError('overloaded', { reason: 'body budget exhausted' })
}

export function tooLarge(most: number = LIMITS.messageSize): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${most} bytes` } })
}

/**
 * Rejects bare CR and LF. They end a line for some readers and not for others; if passed on, they allow SMTP smuggling
 * (CVE-2023-51764 and similar). They are always rejected, never repaired.
 */
class LineEndings {
  readonly lengths = new LineLengths()
  readonly heads = new PartHeads()
  #lastWasCr = false

  check(chunk: Buffer): ServiceError | undefined {
    const written = chunk.toString('latin1')
    this.lengths.add(written)
    this.heads.add(written)
    // The LF of a line end may be in the next chunk.
    const text = this.#lastWasCr ? `\r${written}` : written
    this.#lastWasCr = text.endsWith('\r')
    // A regular expression takes a third of the time of a search for each line end.
    const invalid = INVALID.exec(this.#lastWasCr ? text.slice(0, -1) : text)
    if (!invalid) return undefined
    return invalid[0] === '\0'
      ? new ServiceError('messageMalformed', { values: { problem: 'it contains a NUL character' } })
      : bare()
  }

  end(): ServiceError | undefined {
    return this.#lastWasCr ? bare() : undefined
  }
}

function bare(): ServiceError {
  return new ServiceError('lineEndingInvalid')
}
