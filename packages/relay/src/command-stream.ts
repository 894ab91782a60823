import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { inShareOfTurn } from './share-of-turn.ts'

/**
 * Commands that must be the last of what a client sends at once, since their reply decides what comes next (RFC 2920 3.1).
 * The library takes `DATA anything` for DATA, so we must as well.
 */
const LAST_IN_GROUP = /^(DATA|EHLO|HELO|AUTH|STARTTLS)(?: |$)/i

export interface Violation {
  readonly code: number
  readonly text: string
}

const CRLF_DOT = Buffer.from('\r\n.')
const NOTHING = Buffer.alloc(0)
const LF = 10
const CR = 13
const DOT = 46

/**
 * The library's parser, made as strict as Postfix is: a bare LF ends no command (V03), and nothing may follow a command whose
 * reply decides what comes next (V02). Whoever does that is not a mail client but carries somebody else's commands.
 */
export class CommandStream extends SMTPStream {
  /** Called at the first violation; nothing of the offending piece is executed. */
  onviolation: (violation: Violation) => void = () => {}
  /** Octets of the piece being worked on; 0 between two pieces. */
  #inHand = 0
  /** The end of the last piece of message data, where the final dot may have begun. */
  #held: Buffer = NOTHING

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', next: (error?: Error | null) => void): void {
    // The library calls this again from within, for what stands behind a message in the same piece.
    const outermost = this.#inHand === 0 && chunk.length > 0
    if (outermost) this.#inHand = chunk.length
    const done = outermost ? (error?: Error | null) => this.#finish(next, error) : next
    if (!this._dataMode && !this.isClosed && chunk.length > 0) {
      const violation = findViolation(this._remainder + chunk.toString('latin1'))
      if (violation) {
        this._remainder = ''
        this.onviolation(violation)
        done()
        return
      }
    }
    super._write(chunk, encoding, done)
  }

  /** What came in a later piece, and yet before this command was answered. */
  violationBehind(command: Buffer): Violation | undefined {
    return this.writableLength > this.#inHand ? pipelined(command.toString('latin1')) : undefined
  }

  /**
   * Message data up to the final dot, stuffed dots taken off (RFC 5321 4.5.2). The library looks at each octet by itself, copies
   * each piece behind the end of the one before, and hands on one more for each stuffed dot; here the platform searches, and
   * nearly every piece goes on as it came. From its first stuffed dot on a piece is gone through octet by octet: 24 MB of lines that
   * begin with one took a second when each was searched for.
   */
  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const kept: Buffer[] = []
    const data = this.#behindHeld(chunk, kept)
    let from = 0
    for (;;) {
      const dot = this._atDataStart && from === 0 && data[0] === DOT ? 0 : data.indexOf(CRLF_DOT, from) + 2
      if (dot === 1) break
      const [first, second] = [data[dot + 1], data[dot + 2]]
      if (first === CR && second === LF) {
        this.#end(kept, data, { length: dot, rest: dot + 3 }, done)
        return
      }
      if (first === undefined || (first === CR && second === undefined)) {
        this.#handOn(kept, data, { length: data.length, open: data.length - Math.max(dot - 2, 0) }, done)
        return
      }
      if (first === DOT) {
        this._atDataStart = false
        const unstuffed = unstuff(data, dot)
        if ('rest' in unstuffed) this.#end(kept, data, unstuffed, done)
        else this.#handOn(kept, data, unstuffed, done)
        return
      }
      from = dot + 1
    }
    const open = data.at(-1) === CR ? 1 : data.at(-1) === LF && data.at(-2) === CR ? 2 : 0
    this.#handOn(kept, data, { length: data.length, open }, done)
  }

  #end(kept: Buffer[], data: Buffer, { length, rest }: Ended, done: (error?: Error | null) => void): void {
    kept.push(data.subarray(0, length))
    const last = this.#counted(kept)
    this._endDataMode(last.length > 0 && last, data.subarray(rest), done)
  }

  /** What was held back goes in front where the final dot may go on in this piece; elsewhere it was content. */
  #behindHeld(chunk: Buffer, kept: Buffer[]): Buffer {
    const held = this.#held
    if (held.length === 0) return chunk
    this.#held = NOTHING
    const awaited = { [CR]: LF, [LF]: DOT }[held.at(-1) as number]
    if (awaited === undefined || chunk[0] === awaited) return Buffer.concat([held, chunk])
    kept.push(held)
    this._atDataStart = false
    return chunk
  }

  #handOn(kept: Buffer[], data: Buffer, { length, open }: Open, done: (error?: Error | null) => void): void {
    // A copy: a few octets would keep all of their piece in memory.
    this.#held = Buffer.from(data.subarray(length - open, length))
    kept.push(data.subarray(0, length - open))
    const octets = this.#counted(kept)
    const stream = this._dataStream
    if (octets.length === 0 || !stream?.writable || stream.write(octets) || stream.destroyed) {
      done()
      return
    }
    const goOn = (): void => {
      stream.off('drain', goOn)
      stream.off('close', goOn)
      done()
    }
    // A stream that was destroyed never drains, it only closes.
    stream.once('drain', goOn)
    stream.once('close', goOn)
  }

  #counted(kept: readonly Buffer[]): Buffer {
    const filled = kept.filter(({ length }) => length > 0)
    const octets = filled.length === 1 ? (filled[0] as Buffer) : Buffer.concat(filled)
    this._countDataBytes(octets.length)
    return octets
  }

  /** While the next piece waits for a turn, the socket is not read for long. */
  #finish(next: (error?: Error | null) => void, error?: Error | null): void {
    inShareOfTurn(() => {
      this.#inHand = 0
      next(error)
    })
  }
}

/** Message data that ends in this piece: the octets of it that are content, and where what stands behind the final dot begins. */
interface Ended {
  readonly length: number
  readonly rest: number
}

/** Message data that goes on: its octets, of which the last `open` may belong to the final dot. */
interface Open {
  readonly length: number
  readonly open: number
}

/** Octets of the final dot (CR LF . CR LF) that have come. */
const [IN_LINE, BEHIND_CR, AT_START, BEHIND_DOT, BEHIND_DOT_CR] = [0, 1, 2, 3, 4]

/** Takes stuffed dots off in place, from the one at `from`. */
function unstuff(data: Buffer, from: number): Ended | Open {
  let length = from
  let open = AT_START
  for (let at = from; at < data.length; at++) {
    const octet = data[at] as number
    if (open === BEHIND_DOT && octet === DOT) {
      open = IN_LINE
      continue
    }
    if (open === BEHIND_DOT_CR && octet === LF) return { length: length - 2, rest: at + 1 }
    data[length++] = octet
    if (octet === CR) open = open === BEHIND_DOT ? BEHIND_DOT_CR : BEHIND_CR
    else if (octet === LF && open === BEHIND_CR) open = AT_START
    else open = octet === DOT && open === AT_START ? BEHIND_DOT : IN_LINE
  }
  return { length, open }
}

function findViolation(text: string): Violation | undefined {
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    if (text[end - 1] !== '\r') return { code: 500, text: '5.5.2 Commands end with CRLF' }
    const line = text.slice(start, end - 1)
    start = end + 1
    const violation = start < text.length ? pipelined(line) : undefined
    if (violation) return violation
  }
  return undefined
}

function pipelined(line: string): Violation | undefined {
  const verb = LAST_IN_GROUP.exec(line)?.[1]
  return verb === undefined
    ? undefined
    : { code: 554, text: `5.5.0 Nothing may follow ${verb.toUpperCase()} before its reply` }
}
