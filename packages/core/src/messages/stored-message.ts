import type { DeliveryClass } from '../accounts/mail-class.ts'
import type { AddedContent } from '../composition/added-content.ts'
import type { EncodedPart } from '../composition/body.ts'
import type { RecipientData } from '../composition/recipient-data.ts'
import type { EntryPoint } from '../submission/submission.ts'

/** A validated submission prepared for storage: one message, its body parts and one delivery per recipient. */
export interface StoredMessage {
  /** UUIDv7. */
  readonly id: string
  readonly accountId: number
  /** For a subaccount, the account whose credits it uses unless it has its own limit; otherwise null. */
  readonly parentId: number | null
  readonly domainId: number
  readonly apiKeyId: number
  readonly door: EntryPoint
  readonly scheduledAt: Date | undefined
  readonly fromAddress: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly settings: AddedContent
  readonly class: DeliveryClass
  /** Whether it was submitted as urgent mail, beyond the account's limit. */
  readonly lowered?: boolean
  readonly clientAddress: string
  readonly format: 'mime' | 'content'
  /** Total size of all parts in bytes, before encoding. */
  readonly size: number
  readonly nullReturnPath: boolean
  readonly transactionBase: bigint
  readonly idempotencyKey: string | undefined
  readonly fingerprint: Buffer | undefined
  readonly parts: readonly EncodedPart[]
  /** The batch with which it can be paused and cancelled. */
  readonly batchId?: string | undefined
  /** Why the message is not sent to any recipient. */
  readonly refusal?: 'template' | 'rendering' | 'instructions' | undefined
  /** Human-readable description of the error, included in the events of its deliveries. */
  readonly refusalProblem?: string | undefined
  readonly deliveries: readonly StoredDelivery[]
}

export interface StoredDelivery {
  readonly recipientNo: number
  readonly recipient: string
  /** The address in canonical lower-case form; null if it is malformed, so that nothing is sent. */
  readonly key: string | null
  readonly domain: string
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly reference: string | undefined
  /** Per-recipient data, including the delivery's own scheduled time; null if there are none. */
  readonly personal: RecipientData | null
}
