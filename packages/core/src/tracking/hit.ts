/** A request for a pixel or a tracked link, as stored in the database. */
export interface Hit {
  /** A UUID, so that a hit that is written twice counts once. */
  readonly id: string
  readonly kind: 'opened' | 'clicked'
  readonly accountId: number
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** For clicks, the index of the link in the message; null for opens. `url` is its destination. */
  readonly link: number | null
  readonly url: string | null
  readonly ip: string
  readonly userAgent: string | null
  /** The machine rule that matched; null if none did. */
  readonly machine: string | null
  /** Time of the request by performance.now(). */
  readonly arrived: number
}

/** Maximum number of stored characters of a User-Agent. */
const MAX_USER_AGENT_LENGTH = 512

/** Returns a User-Agent that can be stored and displayed: truncated, and on one line; null if empty. */
export function plainUserAgent(text: string | undefined): string | null {
  // Node decodes header fields as latin1, so truncation does not split a character.
  const plain = (text ?? '')
    .slice(0, MAX_USER_AGENT_LENGTH)
    .replace(/\p{C}+/gu, ' ')
    .trim()
  return plain || null
}
