import type { EventDetail } from './event-detail.ts'
import type { EventType } from './event-types.ts'

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
