import type { Readable } from 'node:stream'
import type { SMTPServerDataStream } from 'smtp-server'
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { MessageStream } from './message-stream.ts'
import { inShareOfTurn } from './share-of-turn.ts'

/**
 * Commands that must be the last in a group of pipelined commands, because their reply decides what comes next (RFC 2920 3.1).
 * smtp-server accepts `DATA anything` as DATA, so this must, too.
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
 * smtp-server's parser, made as strict as Postfix: a bare LF does not end a command (V03), and nothing may follow a command whose
 * reply decides what comes next (V02). Real clients never do this; it indicates command injection.
 */
export class CommandStream extends SMTPStream {
  /** Called at the first violation; no command of the offending chunk is executed. */
  onviolation: (violation: Violation) => void = () => {}
  /** Bytes of the chunk being processed; 0 between two chunks. */
  #inProcess = 0
  /** The end of the last chunk of message data, where the end-of-data sequence may have begun. */
  #held: Buffer = NOTHING
  /** The data of the message that is being received, or was last. */
  #message!: MessageStream

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', next: (error?: Error | null) => void): void {
    // smtp-server calls this method recursively for what follows a message in the same chunk.
    const outermost = this.#inProcess === 0 && chunk.length > 0
    if (outermost) this.#inProcess = chunk.length
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

  /** The violation by a later chunk that arrived before the reply to this command. */
  violationBehind(command: Buffer): Violation | undefined {
    return this.writableLength > this.#inProcess ? pipelined(command.toString('latin1')) : undefined
  }

  /**
   * Passes on message data up to the final dot without its stuffed dots (RFC 5321 4.5.2). smtp-server examines each byte in
   * JavaScript, copies each chunk and emits another chunk for each stuffed dot; here the platform searches, and nearly every chunk is
   * passed on unchanged. After the first stuffed dot, a chunk is scanned byte by byte: 24 MB of lines that begin with a dot took a
   * second when each dot was searched for.
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

  override startDataMode(maxBytes?: number | string | null): SMTPServerDataStream {
    this._dataMode = true
    this._maxBytes = Number(maxBytes) || Number.POSITIVE_INFINITY
    this.dataBytes = 0
    this._atDataStart = true
    this.#message = new MessageStream()
    this._dataStream = this.#message as Readable as SMTPServerDataStream
    return this._dataStream
  }

  /** As in smtp-server, except the function that goes on: see {@link MessageStream}. */
  override _endDataMode(last: Buffer | false, remainder: Buffer, callback: (error?: Error | null) => void): void {
    const stream = this.#message
    const goOn = (): void => this._write(remainder, 'buffer', callback)
    // The message was answered before its end.
    const isAnswered = this._continueCallback === true
    const isRead = stream.destroyed || stream.readableEnded
    this._continueCallback = isAnswered ? false : goOn
    if (isAnswered && !isRead) stream.once('end', goOn)
    stream.byteLength = this.dataBytes
    stream.sizeExceeded = this.dataBytes > this._maxBytes
    // Before the end is passed on: its reader may go on at once, and commands follow.
    this._dataMode = false
    this._remainder = ''
    this._dataStream = null
    stream.end(last)
    if (isAnswered && isRead) goOn()
  }

  /** Prepends the bytes held back if the end-of-data sequence may continue in this chunk; otherwise they were content. */
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
    // A copy: a slice of a few bytes would keep the whole chunk in memory.
    this.#held = Buffer.from(data.subarray(length - open, length))
    kept.push(data.subarray(0, length - open))
    const octets = this.#counted(kept)
    const stream = this.#message
    if (octets.length === 0 || stream.write(octets)) {
      done()
      return
    }
    const goOn = (): void => {
      stream.off('drain', goOn)
      stream.off('close', goOn)
      done()
    }
    // A destroyed stream never drains; it only closes.
    stream.once('drain', goOn)
    stream.once('close', goOn)
  }

  #counted(kept: readonly Buffer[]): Buffer {
    const filled = kept.filter(({ length }) => length > 0)
    const octets = filled.length === 1 ? (filled[0] as Buffer) : Buffer.concat(filled)
    this._countDataBytes(octets.length)
    return octets
  }

  /** While the next chunk waits for its slot, the socket is soon no longer read. */
  #finish(next: (error?: Error | null) => void, error?: Error | null): void {
    inShareOfTurn(() => {
      this.#inProcess = 0
      next(error)
    })
  }
}

/** Message data that ends in this chunk: the number of bytes of content, and the offset of what follows the end of data. */
interface Ended {
  readonly length: number
  readonly rest: number
}

/** Message data that continues: its length, of which the last `open` bytes may belong to the end-of-data sequence. */
interface Open {
  readonly length: number
  readonly open: number
}

/** How much of the end-of-data sequence (CR LF . CR LF) has arrived. */
const [IN_LINE, AFTER_CR, AT_START, AFTER_DOT, AFTER_DOT_CR] = [0, 1, 2, 3, 4]

/** Removes stuffed dots in place, from the one at `from` on. */
function unstuff(data: Buffer, from: number): Ended | Open {
  let length = from
  let open = AT_START
  for (let at = from; at < data.length; at++) {
    const octet = data[at] as number
    if (open === AFTER_DOT && octet === DOT) {
      open = IN_LINE
      continue
    }
    if (open === AFTER_DOT_CR && octet === LF) return { length: length - 2, rest: at + 1 }
    data[length++] = octet
    if (octet === CR) open = open === AFTER_DOT ? AFTER_DOT_CR : AFTER_CR
    else if (octet === LF && open === AFTER_CR) open = AT_START
    else open = octet === DOT && open === AT_START ? AFTER_DOT : IN_LINE
  }
  return { length, open }
}

function findViolation(text: string): Violation | undefined {
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    if (text[end - 1] !== '\r') return { code: 500, text: '5.5.2 Commands must end with CRLF' }
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
    : { code: 554, text: `5.5.0 No command may follow ${verb.toUpperCase()} before its reply` }
}
