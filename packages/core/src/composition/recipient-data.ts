import type { Mailbox } from '../mime/header.ts'
import type { RecipientNotifications } from '../submission/status-notifications.ts'

/**
 * The data of one recipient of a composed message, stored with the delivery (`personal`). Usually null: the recipient is alone
 * in To and nothing else differs.
 */
export interface RecipientData extends RecipientNotifications {
  /** Number of the envelope, whose copies share one Message-ID. */
  readonly envelope: number
  /** The visible To and Cc lists, if they contain more than the recipient; `envelope`: those in the content (visible-list.ts). */
  readonly to?: readonly string[] | 'envelope'
  readonly cc?: readonly string[]
  /** Replaces the To field of a MIME message in this copy. */
  readonly ownTo?: Mailbox
  /** Display names in To and Cc, by address; only the recipient's own if the lists are in the content. */
  readonly names?: Readonly<Record<string, string>>
  /** Replaces the content's sender; `subject` likewise. */
  readonly from?: { readonly email: string; readonly name: string }
  readonly subject?: string
  /** Replaces the message's scheduled time: the earliest time of sending, in ISO 8601. */
  readonly scheduledAt?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** The Message-ID given by the client, with its angle brackets. */
  readonly messageId?: string
  /** Texts to be replaced in subject, Reply-To and content, with their values. */
  readonly substitutions?: Readonly<Record<string, string>>
  /** Data for a dynamic template, as JSON text, because jsonb would not preserve the order of an object's keys. */
  readonly data?: string
  /** Included in every event of the delivery. */
  readonly customArgs?: Readonly<Record<string, string>>
  /** Part numbers of attachments that only this envelope has. */
  readonly attachments?: readonly number[]
}
