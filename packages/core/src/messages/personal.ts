import type { Mailbox } from './mime/header.ts'

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
  readonly attributes?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** The client's own, with its brackets. */
  readonly messageId?: string
  /** Body parts that are attachments of this envelope only. */
  readonly attachments?: readonly number[]
}
