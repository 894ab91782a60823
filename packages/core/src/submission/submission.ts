import type { Principal } from '../accounts/keys/api-key.ts'
import type {
  ContentDetails,
  EnvelopeDetails,
  FileDetails,
  SettingsDetails,
  SubmissionDetails,
} from './submission-details.ts'

export type * from './submission-details.ts'

/** The doors mail comes in by. */
export type Door = 'v2' | 'v3' | 'smtp'

/**
 * What a client handed us, in neutral form, not yet judged. Each door unwraps what it received into this and gives it to
 * `accept`; nothing else puts mail in the queue.
 */
export interface Submission extends SubmissionDetails {
  readonly door: Door
  readonly principal: Principal
  /** The client's address, for the record. */
  readonly clientAddress: string
  /** Undefined: the client named no sender. */
  readonly from: { readonly email: string; readonly name: string } | undefined
  readonly subject: string | undefined
  readonly replyTo: string | undefined
  readonly content: SubmittedContent
  /** Undefined: no template; its content replaces the submission's. */
  readonly templateId: number | undefined
  readonly attachmentIds: readonly string[]
  /** For every recipient. */
  readonly attachments: readonly SubmittedAttachment[]
  readonly envelopes: readonly SubmittedEnvelope[]
  readonly tags: readonly string[]
  readonly settings: MessageSettings
  /** Not before this moment. */
  readonly scheduledAt: Date | undefined
  readonly idempotencyKey: string | undefined
  /** SHA-256 of what the client sent; only looked at under an idempotency key. */
  readonly fingerprint: Buffer | undefined
  /** What the door calls a field, so that a refusal names what the client wrote; `file`: of which of the attachments. */
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

export type SubmittedContent = ContentParts | MimeContent

export interface ContentParts extends ContentDetails {
  readonly kind: 'parts'
  readonly html: string | undefined
  readonly text: string | undefined
  readonly amp: string | undefined
}

/** A whole MIME message: delivered octet for octet below the added trace headers, but for what is added to its texts. */
export interface MimeContent {
  readonly kind: 'mime'
  /** CRLF line ends, control headers already taken out; in pieces, cut anywhere. */
  readonly pieces: readonly Buffer[]
  /** Where it came from, for the Received header (RFC 5321 4.4). */
  readonly trace: { readonly helo: string; readonly address: string; readonly protocol: string }
  /** The message has no Date or Message-ID; a submission agent adds them (RFC 6409 8.1, 8.3). */
  readonly lacksDate: boolean
  readonly lacksMessageId: boolean
  /** MAIL FROM:<>: delivered with the null return path too. */
  readonly nullReturnPath: boolean
  /** Each envelope is of one To, and its copies name that one alone in To; every other octet stays. */
  readonly ownTo?: boolean
}

/** One "To" and its copies: one element of v2's personalizations, or the whole SMTP envelope. */
export interface SubmittedEnvelope extends EnvelopeDetails {
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  /** The caller's own id for the To copies. */
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
  /** The unsubscribe group the message is of: whoever left that group does not get it. */
  readonly group?: number
}
