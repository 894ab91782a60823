import type { InboxEntry } from '../inbox-entry.ts'
import type { Digest } from './digest.ts'
import type { PartOrder } from './part-order.ts'

/** Ways to show a message: JSON, its HTML as a mail program shows it, and its HTML for the frame of the page. */
export type Form = 'json' | 'html' | 'preview'

export interface ShowOrder {
  readonly form: Form
  readonly entry: InboxEntry
  readonly file: string
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
  | PartOrder
  | AttachmentOrder
  | { readonly form: 'digest'; readonly file: string }
  | { readonly form: 'subject'; readonly file: string }

export interface FoundAttachment {
  readonly content: Uint8Array<ArrayBuffer>
  readonly contentType: string
  readonly fileName: string | null
}

/** Bytes of a response, the subject as text, a digest or an attachment; undefined if the file does not exist or has no such part. */
export type MessageAnswer = Uint8Array<ArrayBuffer> | string | Digest | FoundAttachment | undefined
