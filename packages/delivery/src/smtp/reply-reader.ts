import type { Reply } from '@postrider/core'

/** A remote server is hostile until proven otherwise: what it may make us hold is bounded (V70). */
const MAX_REPLY = 64 * 1024
/** What is kept of a line, and of the lines of a reply: what is more is passed over. */
const MAX_LINE = 4096
const MAX_LINES = 128
/** Octets of reply text that are kept. */
export const KEPT = 1024

/** The server does not speak SMTP, or speaks too much of it. */
export class ProtocolError extends Error {}

export interface SmtpReply extends Reply {
  /** The text of each line; EHLO's are capabilities. */
  readonly lines: readonly string[]
}

/** Puts replies together from whatever pieces the network delivers (RFC 5321 4.2). */
export class ReplyReader {
  #pending = ''
  #lines: string[] = []
  #octets = 0
  /** The rest of a line of which enough was kept. */
  #passing = false

  /** Octets of a reply that isn't complete yet; none may be left over when TLS starts (CVE-2021-38371). */
  get isEmpty(): boolean {
    return this.#pending === '' && this.#lines.length === 0 && !this.#passing
  }

  /**
   * Answers the replies this piece completes, one by one: garbage behind a reply does not take the reply back. A line is known by
   * its code, however long it is: a 250 to the final dot that was not taken for one had the message sent again and again.
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
    if (this.#octets > MAX_REPLY) throw new ProtocolError('the server sent an over-long reply')
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
  // RFC 2034: the enhanced code stands at the start of each line.
  const enhanced = /^([245]\.\d{1,3}\.\d{1,3})(?: |$)/.exec(lines[0] ?? '')?.[1] ?? ''
  const joined = lines
    .map((line) => (enhanced && line.startsWith(enhanced) ? line.slice(enhanced.length).trim() : line))
    .join(' ')
  return { enhanced, text: cleanText(joined) }
}

/** What is kept and shown of a server's words: valid UTF-8, no control characters, bounded. */
export function cleanText(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8')
  return cutText(text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim(), KEPT)
}

/** At most so many octets of UTF-8, never half a character: the database takes no lone surrogate. */
export function cutText(text: string, most: number): string {
  const octets = Buffer.from(text)
  if (octets.length <= most) return text
  let end = most
  while (((octets[end] as number) & 0xc0) === 0x80) end--
  return octets.toString('utf8', 0, end)
}
