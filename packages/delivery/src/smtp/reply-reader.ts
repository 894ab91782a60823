import type { Reply } from '@postrider/core'

/** Maximum bytes of a reply: a remote server may be hostile (V70). */
const MAX_REPLY = 64 * 1024
/** Maximum length of a line and number of lines that are kept of a reply; the rest is skipped. */
const MAX_LINE = 4096
const MAX_LINES = 128
/** Maximum bytes of reply text that are kept. */
export const MAX_KEPT_BYTES = 1024

/** The server does not speak SMTP, or sent too much. */
export class ProtocolError extends Error {}

export interface SmtpReply extends Reply {
  /** The text of each line; EHLO's are capabilities. */
  readonly lines: readonly string[]
}

/** Parses replies from arbitrary chunks (RFC 5321 4.2). */
export class ReplyReader {
  #pending = ''
  #lines: string[] = []
  #octets = 0
  /** Skipping the rest of a line that is too long. */
  #passing = false

  /** Whether there is no incomplete reply; none may be left over when TLS starts (CVE-2021-38371). */
  get isEmpty(): boolean {
    return this.#pending === '' && this.#lines.length === 0 && !this.#passing
  }

  /**
   * Yields the replies completed by this chunk one by one, so that garbage after a reply does not invalidate it. A line is recognized by
   * its code, whatever its length: when a long 250 reply to the final dot was not recognized, the message was sent again and again.
   * Throws {@link ProtocolError}.
   */
  *push(chunk: Buffer): Generator<SmtpReply> {
    this.#pending += chunk.toString('latin1')
    for (;;) {
      const end = this.#pending.indexOf('\n')
      if (end === -1 && this.#pending.length <= MAX_LINE) break
      const length = end === -1 ? this.#pending.length : end
      const kept = this.#passing ? '' : this.#pending.slice(0, Math.min(length, MAX_LINE))
      const reply = this.#passing ? undefined : this.#line(kept.replace(/\r$/, ''))
      this.#passing = end === -1
      this.#pending = end === -1 ? '' : this.#pending.slice(end + 1)
      if (reply) yield reply
      this.#count(length - kept.length)
    }
  }

  #count(octets: number): void {
    this.#octets += octets
    if (this.#octets > MAX_REPLY) throw new ProtocolError('the server sent a reply that is too long')
  }

  #line(line: string): SmtpReply | undefined {
    const match = /^([2-5]\d\d)(?:([ -])(.*))?$/s.exec(line)
    if (!match) throw new ProtocolError('the server sent something that is not a reply')
    this.#count(line.length)
    if (this.#lines.length < MAX_LINES) this.#lines.push(match[3] ?? '')
    if (match[2] === '-') return undefined
    const lines = this.#lines
    this.#lines = []
    this.#octets = 0
    return { ...parseText(lines), code: Number(match[1]), lines }
  }
}

function parseText(lines: readonly string[]): { enhanced: string; text: string } {
  // RFC 2034: the enhanced status code is at the start of each line.
  const enhanced = /^([245]\.\d{1,3}\.\d{1,3})(?: |$)/.exec(lines[0] ?? '')?.[1] ?? ''
  const joined = lines
    .map((line) => (enhanced && line.startsWith(enhanced) ? line.slice(enhanced.length).trim() : line))
    .join(' ')
  return { enhanced, text: cleanText(joined) }
}

/** Cleans reply text for storage and display: valid UTF-8, no control characters, bounded. */
export function cleanText(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8')
  return cutText(text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim(), MAX_KEPT_BYTES)
}

/** At most `limit` bytes of UTF-8, never half a character: the database accepts no lone surrogate. */
export function cutText(text: string, limit: number): string {
  const octets = Buffer.from(text)
  if (octets.length <= limit) return text
  let end = limit
  while (((octets[end] as number) & 0xc0) === 0x80) end--
  return octets.toString('utf8', 0, end)
}
