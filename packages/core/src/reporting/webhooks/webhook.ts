import type { Actor } from '../../accounts/audit/index.ts'
import type { WebhookEvent } from '../../events/event-types.ts'

export const WEBHOOK_FORMATS = ['v2', 'v3'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** The settings of a webhook. */
export interface WebhookSettings {
  readonly url: string
  readonly events: readonly WebhookEvent[]
  /** Limits the events to those with one of these names in the format; may be empty. Null for no limit. */
  readonly names: readonly string[] | null
  /** Limits the events of messages to those from these domains and their hosts. Null or absent for no limit. */
  readonly domains?: readonly string[] | null
  /** Limits the events of messages to those with one of these tags. Null or absent for no limit. */
  readonly tags?: readonly string[] | null
  readonly format: WebhookFormat
  /** v2: every value is a text, as before 2019. */
  readonly asText: boolean
  /** v2: spam complaints are named "abuse" instead of "spam". */
  readonly abuse: boolean
  /** v2: each object ends with EVENTID, which is the same for every attempt. */
  readonly eventIds: boolean
  /** Custom headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly enabled: boolean
  /** A name chosen by the account. */
  readonly label: string
  /** v3: requests have the signature of that format. */
  readonly signed: boolean
}

export interface Webhook extends WebhookSettings {
  readonly id: number
  readonly accountId: number
  /** Base64 of the ECDSA key's SubjectPublicKeyInfo, as v3 verifiers expect it. */
  readonly publicKey: string
  readonly createdAt: Date
  /** Null if never changed. */
  readonly changedAt: Date | null
  /** All events up to this number have been reported or are in batches. */
  readonly position: number
  readonly succeededAt: Date | null
  /** Null if not failing. */
  readonly failingSince: Date | null
  /** Time when the service disabled it, with the reason in `problem`; otherwise null. */
  readonly disabledAt: Date | null
  readonly problem: string | null
  /** Why the service disabled it: its receiver responded 410, or failed for days. Null if it did not, or before this was stored. */
  readonly disabledReason: 'gone' | 'failing' | null
  /** When it is tried next, if it is failing; otherwise null. */
  readonly nextTryAt: Date | null
}

export interface WebhookAct {
  readonly accountId: number
  readonly id: number
  readonly by?: Actor
}

/** Whether the URL is probed before the webhook is saved; default true. */
export interface ProbeOptions {
  readonly ask?: boolean
}

/** The keys that sign requests. */
export interface WebhookKeys {
  /** The HMAC secrets; during the grace period of a rotation, also the former one. */
  readonly secrets: readonly Buffer[]
  /** The key of the v3 format's signature (PKCS 8, DER). */
  readonly signingKey: Buffer
}

/** One request in the log. */
export interface WebhookDelivery {
  /** The microsecond in which it ended. */
  readonly id: number
  readonly batchId: string
  readonly at: Date
  readonly after: number
  readonly to: number
  readonly attempt: number
  readonly status: number | null
  readonly milliseconds: number
  readonly problem: string | null
  /** Number of events in it; null for requests of older versions. */
  readonly events: number | null
}

/** The settings by which the body of a request was written. */
export type Written = Pick<WebhookSettings, 'format' | 'asText' | 'abuse' | 'eventIds' | 'names' | 'domains' | 'tags'>

/** The parts of a request that are stored besides its result. */
export interface Exchange {
  /** Number of events in it. */
  readonly events: number
  readonly written: Written
  /** The header fields by which the receiver verifies the request. */
  readonly head: Readonly<Record<string, string>>
  /** Names and values of the response's header fields by turns. */
  readonly answerHead: readonly string[]
  /** The beginning of the response body. */
  readonly answer: Buffer
}

/** A dead-lettered batch. */
export interface DeadBatch {
  readonly id: string
  readonly after: number
  readonly to: number
  readonly attempts: number
  readonly failedSince: Date
  readonly failedAt: Date
  readonly problem: string | null
}

/** A batch claimed by a worker. */
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

/** The result of a request. */
export interface Answer {
  /** Null if there was no response. */
  readonly status: number | null
  readonly milliseconds: number
  /** The value of Retry-After. */
  readonly retryAfter?: string | undefined
  /** The error; undefined if the request succeeded. */
  readonly problem?: string | undefined
}
