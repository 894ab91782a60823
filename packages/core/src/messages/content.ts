import type { Footer } from './additions.ts'

/** The content of a composed message as it is stored: part 0 of the body, in JSON; attachments are parts 1 and up. */
export interface ContentDocument {
  readonly from: { readonly email: string; readonly name: string }
  readonly replyTo?: string
  readonly subject: string
  /** ISO 8601. The moment of accept, when left out. */
  readonly date?: string
  /** Values of the template's variables for recipients who have none. */
  readonly defaults?: Readonly<Record<string, string>>
  readonly html?: string
  readonly text?: string
  readonly amp?: string
  /** Not merged yet. */
  readonly footer?: Footer
  /** File name of every part that is an attachment. */
  readonly files?: Readonly<Record<string, string>>
  /** The attachments every recipient gets; those of single envelopes are named in their Personal. */
  readonly attachments?: readonly number[]
}
