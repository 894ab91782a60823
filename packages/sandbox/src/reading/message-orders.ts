import type { InboxEntry, Recipients } from '../inbox-entry.ts'
import type { Digest } from './digest.ts'
import type { Beginning } from './head.ts'
import type { JudgedLink } from './judged-link.ts'
import type { PartOrder } from './part-order.ts'

/**
 * Ways to show a message: its HTML and its text as a mail program shows them, its header, its links, and what mail programs support of its HTML.
 */
export type Form = 'html' | 'text' | 'headers' | 'links' | 'html-check'

export interface ShowOrder {
  readonly form: Form
  readonly entry: InboxEntry
  readonly file: string
}

/** Order for a message as JSON. */
export interface JsonOrder {
  readonly form: 'json'
  readonly entry: InboxEntry
  readonly file: string
  readonly recipients: Recipients
  readonly links: readonly JudgedLink[]
}

/** Order for a message in the form of Mailpit's API. */
export interface MailpitOrder {
  readonly form: 'mailpit'
  readonly entry: InboxEntry
  readonly file: string
  readonly recipients: Recipients
  readonly tags: readonly string[]
}

export interface AttachmentOrder {
  readonly form: 'attachment'
  readonly file: string
  /** From 0, in the order of the message. */
  readonly number: number
}

/** Order for the reading thread. */
export type MessageOrder =
  | ShowOrder
  | JsonOrder
  | MailpitOrder
  | PartOrder
  | AttachmentOrder
  | { readonly form: 'digest'; readonly file: string }
  | { readonly form: 'head'; readonly file: string }

export interface FoundAttachment {
  readonly content: Uint8Array<ArrayBuffer>
  readonly contentType: string
  readonly fileName: string | null
}

/** Bytes of a response, what the header says, a digest or an attachment; undefined if the file does not exist or has no such part. */
export type MessageAnswer = Uint8Array<ArrayBuffer> | Beginning | Digest | FoundAttachment | undefined
