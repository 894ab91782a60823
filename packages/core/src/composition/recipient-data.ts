import type { Mailbox } from '../mime/header.ts'
import { defined } from '../platform/defined.ts'
import type { RecipientNotifications } from '../submission/status-notifications.ts'

/**
 * The data of one recipient of a composed message, stored with the delivery (`personal`). Usually null: the recipient is alone
 * in To and nothing else differs.
 */
export interface RecipientData extends RecipientNotifications {
  /** Number of the envelope, whose copies share one Message-ID. */
  readonly envelope: number
  /** The visible To and Cc lists, if they contain more than the recipient; `envelope`: those in the content ({@link listOf}). */
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

/** The addresses that the recipients of an envelope see: its To and Cc, with their names. */
export interface VisibleList {
  readonly to: readonly string[]
  readonly cc?: readonly string[]
  /** By address. */
  readonly names?: Readonly<Record<string, string>>
}

/**
 * Stored in place of `to` where the list is the envelope's, in the content (decision 47). A program of a version before it finds no list and stops with an
 * error, so that its delivery waits for one that knows it; without `to` it would send a copy that shows its recipient alone.
 */
export const OF_ENVELOPE = 'envelope'

/** Returns the list that a copy shows; undefined if it shows its recipient alone. `envelopes` are the content's. */
export function listOf(
  { envelopes }: { readonly envelopes?: Readonly<Record<number, VisibleList>> },
  personal: RecipientData | null,
): VisibleList | undefined {
  const { to, cc, names } = personal ?? {}
  if (to === undefined || personal === null) return undefined
  if (to !== OF_ENVELOPE) return { to, ...defined({ cc, names }) }
  const list = envelopes?.[personal.envelope]
  if (!list) throw new Error('the content has no list of visible addresses for this envelope')
  return list
}
