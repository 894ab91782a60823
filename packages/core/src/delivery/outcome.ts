import type { Parties } from './bounce-rules.ts'

/** What came of one attempt. A remote no is a value, never an exception. */
export type Outcome = Delivered | Deferred | Bounced | Dropped

export interface Reply {
  readonly code: number
  /** RFC 3463, or empty. */
  readonly enhanced: string
  /** Cleaned of control characters, at most 1 KiB. */
  readonly text: string
}

/** Where a conversation stood. */
export type Stage =
  | 'mx'
  | 'connect'
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'tls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'dot'
  | 'rset'

/** One step of a conversation, as it is kept with the attempt. */
export interface Step {
  readonly step: string
  /** Milliseconds it took. */
  readonly ms: number
  readonly code?: number
  readonly enhanced?: string
  readonly text?: string
}

interface Tried {
  readonly stage: Stage
  readonly reply: Reply
  readonly host?: string
  readonly address?: string
  readonly tls?: string
  readonly steps: readonly Step[]
  readonly milliseconds: number
}

export interface Delivered extends Tried {
  readonly kind: 'delivered'
}

export interface Deferred extends Tried {
  readonly kind: 'deferred'
  /** The final dot was written and no reply seen: the remote server may have the message (RFC 1047). */
  readonly indeterminate: boolean
}

export interface Bounced extends Tried {
  readonly kind: 'bounced'
  /** Whose message to whom was refused; a server may tell of either. */
  readonly parties?: Parties
}

/** Suppressed or its domain lost since it was queued, or can't be written: no server took anything. */
export interface Dropped {
  readonly kind: 'dropped'
  /** A suppression's reason, `domain-lost`, or `rendering`. */
  readonly reason: string
  /** What is wrong with the template, for the account's eyes. */
  readonly problem?: string
}
