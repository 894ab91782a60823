import type { Mailbox } from '../mime/header.ts'

/**
 * What differs for one recipient of a composed message, stored with the delivery (`personal`). Absent altogether where the
 * recipient is alone on its To line and nothing else differs: the usual case.
 */
export interface Personal {
  /** Number of the envelope; its copies share one Message-ID. */
  readonly envelope: number
  /** The To and Cc lists as the reader sees them, when they are more than the recipient alone. */
  readonly to?: readonly string[]
  readonly cc?: readonly string[]
  /** Of a MIME message: what this copy says in place of the message's To. */
  readonly ownTo?: Mailbox
  /** Names shown in To and Cc, by address. */
  readonly names?: Readonly<Record<string, string>>
  /** In place of the content's. */
  readonly from?: { readonly email: string; readonly name: string }
  readonly subject?: string
  /** In place of the message's: not before this moment, in ISO 8601. */
  readonly scheduledAt?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** The client's own, with its brackets. */
  readonly messageId?: string
  /** Literal text and what stands for it in subject, Reply-To and content. */
  readonly substitutions?: Readonly<Record<string, string>>
  /** What a dynamic template is rendered with, in JSON: as text, since the database would put an object's keys in its own order. */
  readonly data?: string
  /** Given back with every event of the delivery. */
  readonly customArgs?: Readonly<Record<string, string>>
  /** Body parts that are attachments of this envelope only. */
  readonly attachments?: readonly number[]
}
