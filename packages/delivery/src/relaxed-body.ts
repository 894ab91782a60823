import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
/** Octets that are relaxed at a time. A body in bodies of this length lets others in between: 1 ms of it. */
const SLICE = 256 * 1024
/** What is relaxed and not yet handed on; one for all, since it is empty whenever anybody else has a turn. */
const scratch = Buffer.allocUnsafe(64 * 1024)
/** Octets without a blank after which more of them are expected. */
const LONG_STRETCH = 64
const LINE_ENDS = Buffer.from('\r\n'.repeat(8192))

/**
 * RFC 6376 3.4.4: runs of blanks become one space, blanks before a line end go, empty lines at the end go. Octet by octet,
 * with nothing but a few numbers between two pieces: the longest run of anything costs no more than other text. As
 * expressions, 28 MB of tabs and letters took 12 s, and ordinary text as long as here.
 */
export class RelaxedBody {
  readonly #write: (piece: Buffer) => void
  /** Line ends not yet written: at the end of the body all but one go. */
  #lineEnds = 0
  #blank = false
  /** The last octet was a CR; a bare one is a letter like any other. */
  #cr = false
  #empty = true

  /** `write` must have done with each piece when it returns. */
  constructor(write: (piece: Buffer) => void) {
    this.#write = write
  }

  /** The next octets of the body. */
  add(octets: Buffer): void {
    const plain = new PlainStretches(octets)
    let [length, blank, cr] = [0, this.#blank, this.#cr]
    // Where a long stretch may be behind us; the words of a text never come this far.
    let look = LONG_STRETCH
    for (let at = 0; at < octets.length; at++) {
      const octet = octets[at] as number
      if (octet === LF && cr) {
        this.#lineEnds++
        blank = cr = false
        continue
      }
      // One octet in may be all that was kept back, and itself.
      if (length > scratch.length - 4) length = this.#flush(length)
      if (cr) {
        length = this.#letter(length, blank, CR)
        blank = cr = false
      }
      if (octet === SPACE || octet === TAB) {
        blank = true
        look = at + LONG_STRETCH
      } else if (octet === CR) cr = true
      else {
        length = blank || this.#lineEnds > 0 ? this.#letter(length, blank, octet) : put(octet, length)
        blank = false
        if (at < look) continue
        const end = plain.endFrom(at + 1)
        look = plain.blankAt + LONG_STRETCH
        if (end <= at + 1) continue
        length = this.#flush(length)
        this.#write(octets.subarray(at + 1, end))
        at = end - 1
      }
    }
    this.#flush(length)
    this.#blank = blank
    this.#cr = cr
  }

  /** Writes what was kept back, now that a letter follows. */
  #letter(from: number, blank: boolean, octet: number): number {
    let length = from
    if (this.#lineEnds > 0) length = this.#writeLineEnds(length)
    if (blank) length = put(SPACE, length)
    return put(octet, length)
  }

  #writeLineEnds(from: number): number {
    if (this.#lineEnds === 1 && from <= scratch.length - 4) {
      this.#lineEnds = 0
      scratch[from] = CR
      scratch[from + 1] = LF
      return from + 2
    }
    this.#flush(from)
    for (let left = this.#lineEnds * 2; left > 0; left -= LINE_ENDS.length) this.#write(LINE_ENDS.subarray(0, left))
    this.#lineEnds = 0
    return 0
  }

  #flush(length: number): 0 {
    if (length === 0) return 0
    this.#empty = false
    this.#write(scratch.subarray(0, length))
    return 0
  }

  end(): void {
    if (this.#cr) this.#flush(this.#letter(0, this.#blank, CR))
    if (!this.#empty) this.#write(LINE_ENDS.subarray(0, 2))
  }
}

function put(octet: number, at: number): number {
  scratch[at] = octet
  return at + 1
}

/** Finds what has no blanks, such as base64: it is passed on as it is, without a look at each octet. */
class PlainStretches {
  readonly #octets: Buffer
  #space = -1
  #tab = -1
  /** The first blank behind what was asked for. */
  blankAt = 0

  constructor(octets: Buffer) {
    this.#octets = octets
  }

  /** Where what begins here ends: before a blank, and before the line ends in front of that. Each octet is searched once. */
  endFrom(from: number): number {
    if (this.#space < from) this.#space = this.#next(SPACE, from)
    if (this.#tab < from) this.#tab = this.#next(TAB, from)
    this.blankAt = Math.min(this.#space, this.#tab)
    let end = this.blankAt
    while (end > from && (this.#octets[end - 1] === LF || this.#octets[end - 1] === CR)) end--
    return end
  }

  #next(octet: number, from: number): number {
    const at = this.#octets.indexOf(octet, from)
    return at === -1 ? this.#octets.length : at
  }
}

/** The hash of a relaxed body, in base64 (RFC 6376 3.7), at once. */
export function bodyHash(body: Buffer): string {
  const hash = createHash('sha256')
  const relaxed = new RelaxedBody((piece) => hash.update(piece))
  relaxed.add(body)
  relaxed.end()
  return hash.digest('base64')
}

/** The same, a slice at a time: no body keeps everybody else waiting. */
export async function bodyHashInSlices(body: Buffer): Promise<string> {
  const hash = createHash('sha256')
  const relaxed = new RelaxedBody((piece) => hash.update(piece))
  for (let at = 0; at < body.length; at += SLICE) {
    if (at > 0) await setImmediate()
    relaxed.add(body.subarray(at, at + SLICE))
  }
  relaxed.end()
  return hash.digest('base64')
}
