import type { InboxEntry } from './inbox-entry.ts'

/** Ways to show a message. */
export type Form = 'json' | 'html' | 'page'

/** Order for the reading thread: bytes ready to be sent, or the subject as text. */
export type MessageOrder =
  | { readonly form: Form; readonly entry: InboxEntry; readonly file: string }
  | { readonly form: 'subject'; readonly file: string }

/** Undefined if the file does not exist, or if there is no HTML. */
export type MessageAnswer = Uint8Array<ArrayBuffer> | string | undefined
