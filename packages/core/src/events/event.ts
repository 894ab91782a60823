import type { EventDetail } from './event-detail.ts'
import type { EventType } from './event-types.ts'

/** An event with the data of its message. It never changes, except when a recipient is erased. */
export interface Event {
  /** Unique and constant; without order. */
  readonly id: string
  /** The account's sequence number, from 1 without gaps, in commit order. */
  readonly number: number
  readonly occurredAt: Date
  readonly type: EventType
  readonly detail: EventDetail
  /** Null if the event does not belong to a message (`domain`) or the message is no longer stored. */
  readonly delivery: EventDelivery | null
}

/** The delivery of an event. */
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
  /** The unsubscribe group of the message; null if it has none. */
  readonly group: number | null
  /** The requested template of the v3 API; without name if the id did not exist. */
  readonly template: { readonly id: string; readonly name?: string } | null
  /** The pool that the message named; null if it named none. */
  readonly pool: string | null
  /** The address of the source that `detail` names; null if there is none, or it has an IPv6 address, too, so that either may have been used. */
  readonly sourceAddress: string | null
  /** Size of the submitted message in bytes. */
  readonly size: number
  readonly acceptedAt: Date
  /** Values from the sender that are included in every event of the delivery. */
  readonly customArgs: Readonly<Record<string, string>> | null
  /** The Message-ID given by the client, with its angle brackets; null if it gave none. */
  readonly ownMessageId: string | null
  /** Number of the envelope, whose copies share a Message-ID; null for a relayed message. */
  readonly envelope: number | null
  /** Null if it was to be sent immediately. */
  readonly scheduledAt: Date | null
}
