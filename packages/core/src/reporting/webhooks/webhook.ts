import type { WebhookEvent } from '../../events/event-types.ts'

export const WEBHOOK_FORMATS = ['v2', 'v3'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** What the account decides about a webhook. */
export interface WebhookSettings {
  readonly url: string
  readonly events: readonly WebhookEvent[]
  /** Of these events only those whose name in the shape is one of these, and then it may be none at all. Null: all. */
  readonly names: readonly string[] | null
  readonly format: WebhookFormat
  /** v2: every value as text, as it was before 2019. */
  readonly asText: boolean
  /** v2: complaints are called "abuse", not "spam". */
  readonly abuse: boolean
  /** v2: each object ends with EVENTID, the same at every attempt. */
  readonly eventIds: boolean
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly enabled: boolean
  /** What the account calls it. */
  readonly label: string
  /** v3: requests carry that shape's signature. */
  readonly signed: boolean
}

export interface Webhook extends WebhookSettings {
  readonly id: number
  readonly accountId: number
  /** base64 of the ECDSA key's SubjectPublicKeyInfo, as the v3 verifiers take it. */
  readonly publicKey: string
  readonly createdAt: Date
  /** Null: it is as it was made. */
  readonly changedAt: Date | null
  /** All events up to this number are told or on their way. */
  readonly position: number
  readonly succeededAt: Date | null
  /** Null: it answers. */
  readonly failingSince: Date | null
  /** The service disabled it: the reason is `problem`. */
  readonly disabledAt: Date | null
  readonly problem: string | null
}

/** What requests are signed with. */
export interface WebhookKeys {
  /** The HMAC secrets: during the overlap of a rotation, the former one too. */
  readonly secrets: readonly Buffer[]
  /** Of the v3 shape's signature. PKCS 8, DER. */
  readonly signingKey: Buffer
}

/** One request of the log. */
export interface WebhookDelivery {
  readonly batchId: string
  readonly at: Date
  readonly after: number
  readonly to: number
  readonly attempt: number
  readonly status: number | null
  readonly milliseconds: number
  readonly problem: string | null
}

/** A batch that was given up. */
export interface DeadBatch {
  readonly id: string
  readonly after: number
  readonly to: number
  readonly attempts: number
  readonly failedSince: Date
  readonly failedAt: Date
  readonly problem: string | null
}

/** A batch in a worker's hands. */
export interface LeasedBatch {
  readonly id: string
  readonly lease: number
  readonly webhookId: number
  readonly accountId: number
  readonly after: number
  readonly to: number
  readonly types: readonly WebhookEvent[]
  readonly attempts: number
}

/** How the receiver took a request. */
export interface Answer {
  /** Null: there was none. */
  readonly status: number | null
  readonly milliseconds: number
  /** The value of Retry-After. */
  readonly retryAfter?: string | undefined
  /** Why it is no success. Undefined: it is one. */
  readonly problem?: string | undefined
}
