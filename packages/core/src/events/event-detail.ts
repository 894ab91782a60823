/** What an event says of itself, depending on its type. */
export interface EventDetail {
  /** sent, deferred, bounced, expired: the attempt, the host and its reply. */
  readonly attempt?: number
  readonly host?: string
  /** The version of TLS; absent: it was in the clear. */
  readonly tls?: string
  readonly code?: number
  readonly enhanced?: string
  readonly reply?: string
  /** bounced: the bounce class (delivery/bounce-rules.ts). */
  readonly class?: string
  readonly indeterminate?: boolean
  readonly nextAt?: string
  /** dropped: a suppression's reason, or why nothing could be written (reporting/events/words.ts). */
  readonly reason?: string
  /** dropped, for a template that does not render or instructions that can't be carried out: what is wrong with them. */
  readonly problem?: string
  /** opened, clicked: the first of its kind and delivery that was not a machine's. */
  readonly first?: boolean
  /** opened, clicked: the rule that took it for a machine's doing; absent for a person's. */
  readonly machine?: string
  /** opened, clicked: the version of those rules. */
  readonly rules?: number
  /** Of what the recipient caused (`byReader`); not in privacy mode. */
  readonly ip?: string
  readonly userAgent?: string
  /** clicked. */
  readonly url?: string
  /** unsubscribed: the group that was left; absent: all mail. */
  readonly group?: number
  /** domain: its name, and the states it went between. */
  readonly domain?: string
  readonly before?: string
  readonly after?: string
}
