/** The details of events by type; those that do not apply are absent. */
export interface EventDetail {
  /** sent, deferred, bounced, expired: the attempt, the host and its reply. */
  readonly attempt?: number
  readonly host?: string
  /** The name of the source that it was sent from, if any is configured. */
  readonly source?: string
  /** The smart host by which it was sent. */
  readonly via?: string
  /** The TLS version; absent if unencrypted. */
  readonly tls?: string
  readonly code?: number
  readonly enhanced?: string
  readonly reply?: string
  /** Code and reply were made by this service, not by the host. */
  readonly own?: true
  /** bounced: the bounce class (delivery/bounce-rules.ts). processed: the class, if it is lower than the requested one. */
  readonly class?: string
  readonly indeterminate?: boolean
  /** bounced: reported after the server had accepted the message. */
  readonly late?: true
  /** complained: the type that the mailbox provider reports (RFC 5965 7.3). */
  readonly feedback?: string
  readonly nextAt?: string
  /**
   * dropped: a suppression's reason, or why the message could not be built (reporting/events/texts.ts). deferred: `operator` if the delivery
   * was requeued.
   */
  readonly reason?: string
  /** dropped: the error in a template that cannot be rendered or in invalid X-SMTPAPI directives. */
  readonly problem?: string
  /** opened, clicked: set for the first human event of its type and delivery. */
  readonly first?: boolean
  /** opened, clicked: the rule that detected a machine; absent for humans. */
  readonly machine?: string
  /** opened, clicked: the version of those rules. */
  readonly rules?: number
  /** Events that the recipient caused (`byReader`), except in privacy mode. */
  readonly ip?: string
  readonly userAgent?: string
  /** clicked; webhook_disabled: the webhook's, without its query. */
  readonly url?: string
  /** clicked: the index of the link in the message, from 0. */
  readonly link?: number
  /** unsubscribed, resubscribed: the group; absent for all mail. */
  readonly group?: number
  /** account: the rule, the classes of mail that are slowed or held (absent if it is a warning or an end), and the figures that it evaluated. */
  readonly rule?: string
  readonly classes?: readonly string[]
  readonly figures?: Readonly<Record<string, number>>
  /** domain: its name, and its states before and after. account: the levels before and after, and the domain if the rule is about one. */
  readonly domain?: string
  readonly before?: string
  readonly after?: string
  /** webhook_disabled: its id; `reason` says why. */
  readonly webhook?: number
  /** key_expiring: its id, name and expiry. */
  readonly key?: number
  readonly keyName?: string
  readonly expiresAt?: string
}
