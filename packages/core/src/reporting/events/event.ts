/** What can happen, in the service's own words; each door has its own names for them (contract 16.4). */
export const EVENT_TYPES = [
  ...(['processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired'] as const),
  ...(['opened', 'clicked', 'unsubscribed', 'complained'] as const),
  'domain',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** One thing that happened, with what the account knew of its message. Never changed, but by forgetting a person. */
export interface Event {
  /** Unique and the same for ever; in no order. */
  readonly id: string
  /** The account's gap-free sequence, from 1, in commit order. */
  readonly number: number
  readonly occurredAt: Date
  readonly type: EventType
  readonly detail: EventDetail
  /** Null: the event is not of a message (`domain`), or the message is no longer kept. */
  readonly delivery: EventDelivery | null
}

/** The delivery an event is about. */
export interface EventDelivery {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** v2 TRANSID: a decimal number, a multiple of 4. */
  readonly transactionNumber: string
  readonly recipient: string
  readonly from: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly reference: string | null
  /** The unsubscribe group the message is of. */
  readonly group: number | null
  /** The template of the migration API the message was to be made of; no name: there was none of that id. */
  readonly template: { readonly id: string; readonly name?: string } | null
  /** Octets of the message as handed in. */
  readonly size: number
  readonly acceptedAt: Date
  /** What the sender wants to be told with every event of the delivery. */
  readonly customArgs: Readonly<Record<string, string>> | null
  /** The caller's own Message-ID, with its brackets. */
  readonly ownMessageId: string | null
  /** Copies of one envelope share a Message-ID; null: the message was relayed as it was. */
  readonly envelope: number | null
  /** Null: it was to go at once. */
  readonly scheduledAt: Date | null
}

/** What each type tells, as far as it applies. */
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
  /** opened, clicked, unsubscribed, complained; not in privacy mode. */
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
