import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
/** Octets that are relaxed at a time, before others have a turn: twice as many took up to 12 ms. */
const SLICE = 128 * 1024
/** What is relaxed and not yet handed on; one for all, since it is empty whenever anybody else has a turn. */
const scratch = Buffer.allocUnsafe(64 * 1024)
/** Octets without a blank after which more of them are expected. */
const LONG_STRETCH = 64
/** Octets that are copied by a call rather than one by one, and those that are handed on as they are. */
const [COPIED, HANDED_ON] = [24, 4096]
const LINE_ENDS = Buffer.from('\r\n'.repeat(8192))

/**
 * RFC 6376 3.4.4: runs of blanks become one space, blanks before a line end go, empty lines at the end go. In one loop over the
 * octets, with nothing but a few numbers between two pieces: the longest run of anything costs no more than other text. As
 * expressions, 28 MB of tabs and letters took 12 s.
 *
 * Most text is relaxed as it stands, words with one space between them and lines, and is copied in stretches.
 */
export class RelaxedBody {
  readonly #write: (piece: Buffer) => void
  /** Octets in `scratch`. */
  #length = 0
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
    for (let at = 0; at < octets.length; ) {
      const octet = octets[at] as number
      if (octet === LF && this.#cr) {
        this.#lineEnds++
        this.#blank = this.#cr = false
        at++
        continue
      }
      if (this.#cr) {
        this.#keptBack()
        this.#put(CR)
        this.#cr = false
      }
      if (octet === SPACE || octet === TAB) this.#blank = true
      else if (octet === CR) this.#cr = true
      else {
        this.#keptBack()
        const end = endOfStretch(octets, at, plain)
        this.#copy(octets, at, end)
        at = end
        continue
      }
      at++
    }
    this.#flush()
  }

  end(): void {
    if (this.#cr) {
      this.#keptBack()
      this.#put(CR)
      this.#flush()
    }
    if (!this.#empty) this.#write(LINE_ENDS.subarray(0, 2))
  }

  /** Writes what was kept back, now that a letter follows. */
  #keptBack(): void {
    if (this.#lineEnds > 0) this.#writeLineEnds()
    if (this.#blank) this.#put(SPACE)
    this.#blank = false
  }

  #writeLineEnds(): void {
    if (this.#lineEnds === 1) {
      this.#put(CR)
      this.#put(LF)
    } else {
      this.#flush()
      for (let left = this.#lineEnds * 2; left > 0; left -= LINE_ENDS.length) this.#write(LINE_ENDS.subarray(0, left))
    }
    this.#lineEnds = 0
  }

  #put(octet: number): void {
    if (this.#length === scratch.length) this.#flush()
    scratch[this.#length++] = octet
  }

  #copy(octets: Buffer, start: number, end: number): void {
    const length = end - start
    if (length >= HANDED_ON) {
      this.#flush()
      this.#empty = false
      this.#write(octets.subarray(start, end))
      return
    }
    if (this.#length + length > scratch.length) this.#flush()
    if (length > COPIED) octets.copy(scratch, this.#length, start, end)
    else for (let at = 0; at < length; at++) scratch[this.#length + at] = octets[start + at] as number
    this.#length += length
  }

  #flush(): void {
    if (this.#length === 0) return
    this.#empty = false
    this.#write(scratch.subarray(0, this.#length))
    this.#length = 0
  }
}

/** Behind the last letter that can be copied along with the one that stands here: all between them is relaxed as it is. */
function endOfStretch(octets: Buffer, from: number, plain: PlainStretches): number {
  let at = from + 1
  // Where a long stretch without blanks may be behind us; the words of a text never come this far.
  let look = at + LONG_STRETCH
  for (; at < octets.length; at++) {
    const octet = octets[at] as number
    if (octet > SPACE) {
      if (at < look) continue
      at = Math.max(at, plain.endFrom(at) - 1)
      look = plain.blankAt + LONG_STRETCH
    } else if (octet === SPACE) {
      if (!isLetter(octets[at + 1])) return at
      look = at + LONG_STRETCH
    } else if (octet === CR) {
      if (octets[at + 1] !== LF || !isLetter(octets[at + 2])) return at
      at += 2
    } else if (octet === TAB) return at
  }
  return at
}

function isLetter(octet: number | undefined): boolean {
  return octet !== undefined && (octet > SPACE || (octet !== SPACE && octet !== TAB && octet !== CR && octet !== LF))
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
