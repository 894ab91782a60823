/** What arrived at a pixel or a link, as it goes into the database. */
export interface Hit {
  /** A UUID: the same hit written twice counts once. */
  readonly id: string
  readonly kind: 'opened' | 'clicked'
  readonly accountId: number
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** clicked: which link of the message, and where it leads. */
  readonly link: number | null
  readonly url: string | null
  readonly ip: string
  readonly userAgent: string | null
  /** The machine rule it met. */
  readonly machine: string | null
  /** performance.now() of its arrival. */
  readonly arrived: number
}

/** Characters of a reader's program that are kept. */
const USER_AGENT_KEPT = 512

/** A header field as it may be stored and shown: bounded, and one line of text. */
export function plainUserAgent(text: string | undefined): string | null {
  // Node reads header fields as latin1, so nothing here is half a character.
  const plain = (text ?? '')
    .slice(0, USER_AGENT_KEPT)
    .replace(/\p{C}+/gu, ' ')
    .trim()
  return plain || null
}
