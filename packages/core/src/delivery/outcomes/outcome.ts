import type { TlsLevel, TlsOrigin } from '../tls/levels.ts'

/** The outcome of one attempt. A rejection by the remote server is a value, never an exception. */
export type Outcome = Delivered | Deferred | Bounced | Dropped

export interface Reply {
  readonly code: number
  /** Enhanced status code (RFC 3463); empty if the reply has none. */
  readonly enhanced: string
  /** Without control characters, at most 1 KiB. */
  readonly text: string
  /** Made by this service, not by a server. */
  readonly own?: true
}

/** The envelope addresses of the rejected transaction. */
export interface Parties {
  /** The return path; empty for the null sender. */
  readonly sender: string
  readonly recipient: string
}

/** The stage that a conversation had reached. */
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

/** The stages before mail is offered. */
export const SESSION_STAGES: readonly Stage[] = ['mx', 'connect', 'greeting', 'ehlo', 'starttls', 'tls', 'auth']

/** One step of a conversation, as stored with the attempt. */
export interface Step {
  readonly step: string
  /** Duration in milliseconds. */
  readonly ms: number
  readonly code?: number
  readonly enhanced?: string
  readonly text?: string
  /** Its command was sent before the step before it was answered (RFC 2920), so their durations overlap: both began with the first of them. */
  readonly together?: true
}

interface Tried {
  readonly stage: Stage
  readonly reply: Reply
  readonly host?: string
  readonly address?: string
  readonly tls?: string
  /** The TLS level that was demanded; undefined if TLS was to be used where it is offered. */
  readonly tlsPolicy?: TlsLevel
  /** Where that demand comes from. */
  readonly tlsOrigin?: TlsOrigin
  /** Whether the certificate was valid for the host; undefined without TLS. */
  readonly tlsVerified?: boolean
  readonly steps: readonly Step[]
  readonly milliseconds: number
}

export interface Delivered extends Tried {
  readonly kind: 'delivered'
}

export interface Deferred extends Tried {
  readonly kind: 'deferred'
  /** Whether end of data was sent but no reply received: the remote server may have the message (RFC 1047). */
  readonly indeterminate: boolean
  /** The host at which the next attempt begins, since those before it were tried; undefined: at the best one. */
  readonly nextHost?: string | undefined
}

export interface Bounced extends Tried {
  readonly kind: 'bounced'
  /** Sender and recipient of the rejected message; the reply may concern either. */
  readonly parties?: Parties
}

/**
 * Not sent to any server: since the delivery was queued, its recipient was suppressed or its sending domain lost, or the message
 * cannot be built.
 */
export interface Dropped {
  readonly kind: 'dropped'
  /** A suppression's reason, `domain-lost`, or `rendering`. */
  readonly reason: string
  /** The error in the template, as shown to the account. */
  readonly problem?: string
}
