import { LineLengths } from '../mime/conformance/line-length.ts'
import { PartHeads } from '../mime/conformance/part-heads.ts'
import { ServiceError } from '../platform/errors.ts'
import { CRLF, EMPTY_LINE, headerTooLarge, MAX_HEADER } from './header.ts'

/** A CR without LF, a LF without CR, a NUL. */
const INVALID = /\r(?!\n)|(?<!\r)\n|\0/

/** A message in pieces whose line ends and header were checked. */
export interface CheckedMessage {
  /** The first contains the whole header. */
  readonly pieces: readonly Buffer[]
  /** Offset of the last line that is longer than SMTP permits; -1 if there is none, or if lines were not checked. */
  readonly lastLongLine: number
  /** Whether parts of it may have to be corrected. */
  readonly hasOddParts: boolean
}

/** Checks a message that arrives in pieces for what no message may have. */
export class MessageCheck {
  readonly #lines = new LineEndings()
  readonly #head = new HeadSearch()

  /** Returns why the message is refused; undefined if the piece is in order. */
  check(piece: Buffer): ServiceError | undefined {
    return this.#lines.check(piece) ?? this.#head.check(piece)
  }

  end(): ServiceError | undefined {
    return this.#lines.end()
  }

  /** The message of all pieces. */
  checked(pieces: readonly Buffer[]): CheckedMessage {
    const { lengths, heads } = this.#lines
    return { pieces: this.#head.first(pieces), lastLongLine: lengths.lastAt, hasOddParts: heads.areOdd }
  }
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
