import type { InboxEntry } from './inbox-entry.ts'

/** Ways to show a message. */
export type Form = 'json' | 'html' | 'page'

/** What the reading thread is asked for: octets ready to send, or the subject as text. */
export type MessageOrder =
  | { readonly form: Form; readonly entry: InboxEntry; readonly file: string }
  | { readonly form: 'subject'; readonly file: string }

/** Undefined when the file is gone, or there is no HTML. */
export type MessageAnswer = Uint8Array<ArrayBuffer> | string | undefined
