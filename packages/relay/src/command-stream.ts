import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'

/**
 * Commands that must be the last of what a client sends at once, since their reply decides what comes next (RFC 2920 3.1).
 * The library takes `DATA anything` for DATA, so we must as well.
 */
const LAST_IN_GROUP = /^(DATA|EHLO|HELO|AUTH|STARTTLS)(?: |$)/i

export interface Violation {
  readonly code: number
  readonly text: string
}

/**
 * The library's parser, made as strict as Postfix is: a bare LF ends no command (V03), and nothing may follow a command whose
 * reply decides what comes next (V02). Whoever does that is not a mail client but carries somebody else's commands.
 */
export class CommandStream extends SMTPStream {
  /** Called at the first violation; nothing of the offending piece is executed. */
  onviolation: (violation: Violation) => void = () => {}
  /** Octets of the piece being worked on; 0 between two pieces. */
  #inHand = 0

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

  #finish(next: (error?: Error | null) => void, error?: Error | null): void {
    this.#inHand = 0
    next(error)
  }
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
