import type { TemplatePart } from '../content/engine/index.ts'
import type { FileHead } from '../mime/parts.ts'
import type { SubmittedMailbox } from '../submission/submission.ts'
import type { Footer } from './additions.ts'

/** The content of a composed message as it is stored: part 0 of the body, in JSON; attachments are parts 1 and up. */
export interface ContentDocument {
  readonly from: { readonly email: string; readonly name: string }
  readonly replyTo?: string
  /** In its place. */
  readonly replyToList?: readonly SubmittedMailbox[]
  readonly subject: string
  /** Extra fields of every copy. */
  readonly headers?: Readonly<Record<string, string>>
  /** ISO 8601. The moment of accept, when left out. */
  readonly date?: string
  /** Values of the template's variables for recipients who have none. */
  readonly defaults?: Readonly<Record<string, string>>
  readonly html?: string
  readonly text?: string
  readonly amp?: string
  /** After HTML, in this order. */
  readonly alternatives?: readonly { readonly type: string; readonly text: string }[]
  /** Nothing is put in for merge tags. */
  readonly literal?: true
  /** Text that the values of substitutions may name. */
  readonly sections?: Readonly<Record<string, string>>
  /** Those of subject, HTML and text that are a dynamic template, rendered for each recipient. */
  readonly rendered?: readonly TemplatePart[]
  /** Tags of unsubscribe links may stand in its texts, and are filled in (core/content/substitution/unsubscribe-tags.ts). */
  readonly unsubscribeTags?: true
  /** Not merged yet. */
  readonly footer?: Footer
  /** File name of every part that is an attachment. */
  readonly files?: Readonly<Record<string, string>>
  /** Of those that are no ordinary attachment of the type their name says. */
  readonly fileHeads?: Readonly<Record<string, FileHead>>
  /** The attachments every recipient gets; those of single envelopes are named in their Personal. */
  readonly attachments?: readonly number[]
}
