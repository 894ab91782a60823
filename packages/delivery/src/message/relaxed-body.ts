import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32]
/** Bytes canonicalized per slice, before other work gets a slot; twice as many took up to 12 ms. */
const SLICE = 128 * 1024
/** Output that is not yet written. Shared by all instances, since it is empty whenever other code runs. */
const scratch = Buffer.allocUnsafe(64 * 1024)
/** Bytes without a blank after which more of them are expected. */
const LONG_STRETCH = 64
/** Lengths from which bytes are copied by one call rather than one by one, and from which they are passed on without a copy. */
const [COPY_CALL, UNCOPIED] = [24, 4096]
const LINE_ENDS = Buffer.from('\r\n'.repeat(8192))

/**
 * RFC 6376 3.4.4: reduces runs of blanks to one space, and removes blanks before a line end and empty lines at the end. A single loop
 * over the bytes that keeps only a few numbers between two chunks, so the longest run of anything costs no more than other text. With
 * regular expressions, 28 MB of tabs and letters took 12 s.
 *
 * Most text is already relaxed, words with single spaces and lines, and is copied in stretches.
 */
export class RelaxedBody {
  readonly #write: (piece: Buffer) => void
  /** Number of bytes in `scratch`. */
  #length = 0
  /** Line ends not yet written: at the end of the body all but one are removed. */
  #lineEnds = 0
  #blank = false
  /** The last byte was a CR; a bare CR is an ordinary character. */
  #cr = false
  #empty = true

  /** `write` must not keep the chunk after it returns. */
  constructor(write: (piece: Buffer) => void) {
    this.#write = write
  }

  /** Adds the next bytes of the body. */
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

  /** Writes the line ends and the blank that precede a letter. */
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
    if (length >= UNCOPIED) {
      this.#flush()
      this.#empty = false
      this.#write(octets.subarray(start, end))
      return
    }
    if (this.#length + length > scratch.length) this.#flush()
    if (length > COPY_CALL) octets.copy(scratch, this.#length, start, end)
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

/** Offset after the last letter that can be copied together with the one at `from`: all between them is already relaxed. */
function endOfStretch(octets: Buffer, from: number, plain: PlainStretches): number {
  let at = from + 1
  // From here on the scan may be inside a long stretch without blanks; words of ordinary text are shorter.
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

/** Finds long text without blanks, such as base64, which is passed on without examining each byte. */
class PlainStretches {
  readonly #octets: Buffer
  #space = -1
  #tab = -1
  /** The first blank after the last queried offset. */
  blankAt = 0

  constructor(octets: Buffer) {
    this.#octets = octets
  }

  /** End of the stretch that begins here: before a blank, and before line ends that precede the blank. Each byte is searched once. */
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

/** The hash of a relaxed body in base64 (RFC 6376 3.7), synchronously. */
export function bodyHash(body: Buffer): string {
  const hash = createHash('sha256')
  const relaxed = new RelaxedBody((piece) => hash.update(piece))
  relaxed.add(body)
  relaxed.end()
  return hash.digest('base64')
}

/** The same in slices, so that a large body does not block the event loop. */
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
