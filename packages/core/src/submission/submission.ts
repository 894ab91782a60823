import type { Principal } from '../accounts/keys/api-key.ts'
import type {
  ContentDetails,
  EnvelopeDetails,
  FileDetails,
  SettingsDetails,
  SubmissionDetails,
} from './submission-details.ts'

export type * from './submission-details.ts'

/** The entry points for mail. */
export type EntryPoint = 'v2' | 'v3' | 'smtp'

/**
 * A client's message in a form independent of the entry point, not validated yet. Each entry point parses its input
 * into this form and passes it to `accept`, the only way to queue mail.
 */
export interface Submission extends SubmissionDetails {
  readonly door: EntryPoint
  /** The entry point whose rules hold, if it is another one: a MIME message is the same over HTTP. */
  readonly rules?: EntryPoint
  readonly principal: Principal
  /** The client's IP address, for logs and trace headers. */
  readonly clientAddress: string
  /** Undefined if the client named no sender. */
  readonly from: { readonly email: string; readonly name: string } | undefined
  readonly subject: string | undefined
  readonly replyTo: string | undefined
  readonly content: SubmittedContent
  /** Template whose content replaces the submission's; undefined if none. */
  readonly templateId: number | undefined
  readonly attachmentIds: readonly string[]
  /** Attachments for all recipients. */
  readonly attachments: readonly SubmittedAttachment[]
  readonly envelopes: readonly SubmittedEnvelope[]
  readonly tags: readonly string[]
  readonly settings: MessageSettings
  /** Earliest time to send. */
  readonly scheduledAt: Date | undefined
  readonly idempotencyKey: string | undefined
  /** SHA-256 of the client's input; used only with an idempotency key. */
  readonly fingerprint: Buffer | undefined
  /**
   * Returns the entry point's name of a field, so that errors use the name the client wrote; `file` is the index of the
   * attachment.
   */
  readonly nameOf: (field: SubmissionField, envelope?: number, key?: string, file?: number) => string
}

export type SubmissionField =
  | 'fromEmail'
  | 'fromName'
  | 'subject'
  | 'replyTo'
  | 'content'
  | 'amp'
  | 'tags'
  | 'recipient'
  | 'cc'
  | 'bcc'
  | 'reference'
  | 'referenceCc'
  | 'attributes'
  | 'headers'
  | 'attachments'
  | 'attachmentContent'
  | 'scheduledAt'
  | 'idempotencyKey'
  | 'messageId'
  | 'names'
  | 'substitutions'
  | 'sections'
  | 'data'
  | 'customArgs'
  | 'template'
  | 'batch'
  | 'bypass'
  | 'footer'
  | 'openTracking'
  | 'unsubscribe'
  | 'linkParameters'
  | 'groups'
  | 'class'
  | 'deadline'
  | 'tls'

export type SubmittedContent = ContentParts | MimeContent

export interface ContentParts extends ContentDetails {
  readonly kind: 'parts'
  readonly html: string | undefined
  readonly text: string | undefined
  readonly amp: string | undefined
}

/**
 * A complete MIME message. Delivered byte for byte below the added trace headers, except for content added to its
 * texts.
 */
export interface MimeContent {
  readonly kind: 'mime'
  /** Has CRLF line ends and no control headers; split into pieces at arbitrary positions. */
  readonly pieces: readonly Buffer[]
  /** Origin of the message, for the Received header (RFC 5321 4.4). */
  readonly trace: { readonly helo: string; readonly address: string; readonly protocol: string }
  /** Whether Date or Message-ID is missing; a submission agent adds them (RFC 6409 8.1, 8.3). */
  readonly lacksDate: boolean
  readonly lacksMessageId: boolean
  /** MAIL FROM:<>: also delivered with the null return path. */
  readonly nullReturnPath: boolean
  /** Each envelope has one To recipient, and its copies show only that one in To; every other byte is unchanged. */
  readonly ownTo?: boolean
  /** Whether its media type says that it has attachments; used by searches only. */
  readonly hasAttachment?: boolean
  /** Its own Message-ID, as written; used by searches only. */
  readonly messageId?: string | undefined
  /** Corrections of the message, in words; undefined if there are none. */
  readonly corrected?: string | undefined
}

/** A To recipient list with its cc and bcc recipients: one personalization of v2, or the whole SMTP envelope. */
export interface SubmittedEnvelope extends EnvelopeDetails {
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  /** The caller's id for the deliveries to To recipients. */
  readonly reference: string | undefined
  readonly referenceCc: string | undefined
  /** Merge attributes. */
  readonly attributes: Readonly<Record<string, string>>
  /** Extra header fields. */
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly SubmittedAttachment[]
}

export interface SubmittedAttachment extends FileDetails {
  readonly fileName: string
  readonly content: Buffer
}

/** Stored with the message; undefined means the account's default. */
export interface MessageSettings extends SettingsDetails {
  readonly footer?: boolean
  readonly clickTracking?: boolean
  readonly openTracking?: boolean
  readonly unsubscribe?: boolean
  /** The message's unsubscribe group; recipients who unsubscribed from it do not receive the message. */
  readonly group?: number
  /** The name of the pool of sources that it asks for. */
  readonly pool?: string
  /** The TLS level that it demands of the connections to recipients' servers: required, verified or dane; not validated yet. */
  readonly tls?: string
  /** False: its content is removed once its last delivery has ended. */
  readonly keepContent?: boolean
  /** urgent, normal or bulk; not validated yet. */
  readonly class?: string
  /** Seconds after which the message is no longer tried, from when it is due; not validated yet. */
  readonly deadline?: number
}
