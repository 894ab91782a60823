import type { Additions } from '../composition/additions.ts'
import type { EncodedPart } from '../composition/body.ts'
import type { Personal } from '../composition/personal.ts'
import type { Door } from '../submission/submission.ts'

/** A judged submission, ready to be written: one message, its body parts, one delivery per recipient. */
export interface StoredMessage {
  /** UUIDv7. */
  readonly id: string
  readonly accountId: number
  /** Of a subaccount: whose credit it draws on unless it has a limit of its own. */
  readonly parentId: number | null
  readonly domainId: number
  readonly apiKeyId: number
  readonly door: Door
  readonly scheduledAt: Date | undefined
  readonly fromAddress: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly settings: Additions
  readonly clientAddress: string
  readonly format: 'mime' | 'content'
  /** Octets before encoding, all parts together. */
  readonly size: number
  readonly nullReturnPath: boolean
  readonly transactionBase: bigint
  readonly idempotencyKey: string | undefined
  readonly fingerprint: Buffer | undefined
  readonly parts: readonly EncodedPart[]
  /** The batch it can be paused and cancelled with. */
  readonly batchId?: string | undefined
  /** Why none of it is sent, whoever it is for. */
  readonly refusal?: 'template' | 'instructions' | undefined
  /** What is wrong, for people; kept in the events of its deliveries. */
  readonly refusalProblem?: string | undefined
  readonly deliveries: readonly StoredDelivery[]
}

export interface StoredDelivery {
  readonly recipientNo: number
  readonly recipient: string
  /** Canonical lower-case form; null when the recipient is malformed, and nothing is sent. */
  readonly key: string | null
  readonly domain: string
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly reference: string | undefined
  /** Its own schedule is in here too. */
  readonly personal: Personal | null
}
