import type { TemplatePart } from '../content/engine/index.ts'
import type { FileHead } from '../mime/parts.ts'
import type { SubmittedMailbox } from '../submission/submission.ts'
import type { Footer } from './added-content.ts'
import type { VisibleList } from './recipient-data.ts'

/** The stored content of a composed message: part 0 of the body, in JSON. Attachments are parts 1 and up. */
export interface ContentDocument {
  readonly from: { readonly email: string; readonly name: string }
  readonly replyTo?: string
  /** Replaces `replyTo`. */
  readonly replyToList?: readonly SubmittedMailbox[]
  readonly subject: string
  /** Additional header fields of every copy. */
  readonly headers?: Readonly<Record<string, string>>
  /** ISO 8601; undefined for the time when the message was accepted. */
  readonly date?: string
  readonly sender?: SubmittedMailbox
  /** Default values of the template's variables, for recipients without a value. */
  readonly defaults?: Readonly<Record<string, string>>
  readonly html?: string
  readonly text?: string
  readonly amp?: string
  /** Set if the text of each copy is generated from its HTML. */
  readonly generateText?: true
  /** Further alternatives, which follow the HTML in this order. */
  readonly alternatives?: readonly { readonly type: string; readonly text: string }[]
  /** Set if merge tags are disabled. */
  readonly literal?: true
  /** Texts that the values of substitutions may refer to. */
  readonly sections?: Readonly<Record<string, string>>
  /** Which of subject, HTML and text are dynamic templates, rendered for each recipient. */
  readonly rendered?: readonly TemplatePart[]
  /** Set if the texts may contain unsubscribe tags, which are replaced (core/content/substitution/unsubscribe-tags.ts). */
  readonly unsubscribeTags?: true
  /** Its merge tags are not replaced yet. */
  readonly footer?: Footer
  /** The lists that the copies of an envelope share, by its number. */
  readonly envelopes?: Readonly<Record<number, VisibleList>>
  /** File names of the attachments, by part number. */
  readonly files?: Readonly<Record<string, string>>
  /** Headers of those files that are not ordinary attachments with the type of their file name, by part number. */
  readonly fileHeads?: Readonly<Record<string, FileHead>>
  /** Part numbers of the attachments for every recipient; those of single envelopes are in their Personal. */
  readonly attachments?: readonly number[]
}
