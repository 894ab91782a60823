import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'

/** Commands that must be the last of what a client sends at once, since their reply decides what comes next (RFC 2920 3.1). */
const LAST_IN_GROUP = /^(DATA|(EHLO|HELO|AUTH)\b.*|STARTTLS)$/i

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

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', next: (error?: Error | null) => void): void {
    if (!this._dataMode && !this.isClosed && chunk.length > 0) {
      const violation = findViolation(this._remainder + chunk.toString('latin1'))
      if (violation) {
        this._remainder = ''
        this.onviolation(violation)
        next()
        return
      }
    }
    super._write(chunk, encoding, next)
  }
}

function findViolation(text: string): Violation | undefined {
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    if (text[end - 1] !== '\r') return { code: 500, text: '5.5.2 Commands end with CRLF' }
    const line = text.slice(start, end - 1)
    start = end + 1
    if (start < text.length && LAST_IN_GROUP.test(line)) {
      return { code: 554, text: `5.5.0 Nothing may follow ${line.split(' ', 1)[0]?.toUpperCase()} before its reply` }
    }
  }
  return undefined
}
