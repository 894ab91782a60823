import { parseAddress } from '../mime/address.ts'
import { defined } from '../platform/defined.ts'
import type { SubmittedEnvelope } from '../submission/submission.ts'
import type { ContentDocument } from './content.ts'
import type { RecipientData } from './recipient-data.ts'

/** The addresses that the recipients of an envelope see: its To and Cc, with their names. */
export interface VisibleList {
  readonly to: readonly string[]
  readonly cc?: readonly string[]
  /** By address. */
  readonly names?: Readonly<Record<string, string>>
}

/**
 * Stored in place of `to` where the list is the envelope's, in the content. A program of a version before it finds no list and stops with an error, so that
 * its delivery waits for one that knows it; without `to` it would send a copy that shows only its recipient.
 */
export const OF_ENVELOPE = 'envelope'

/** Characters from which the copies of an envelope share its list: those of a small one are stored as before. */
const SHARED_FROM = 16 * 1024

/** Returns the characters of the addresses and names that each copy shows. */
export function visibleLength(
  { to, cc, names }: Pick<SubmittedEnvelope, 'to' | 'cc' | 'names'>,
  measure: (text: string) => number = ({ length }) => length,
): number {
  const texts = [...to, ...cc, ...[...(names ?? [])].flat()]
  return texts.reduce((sum, text) => sum + measure(text), 0)
}

/** Whether the list of an envelope is stored once. */
export function isShared(envelope: Pick<SubmittedEnvelope, 'to' | 'cc' | 'bcc' | 'names'>): boolean {
  const copies = envelope.to.length + envelope.cc.length + envelope.bcc.length
  return copies > 1 && copies * visibleLength(envelope) > SHARED_FROM
}

/** Returns the addresses in their canonical form, without those that are not valid. */
export function canonical(addresses: readonly string[]): string[] {
  return addresses.flatMap((written) => parseAddress(written)?.text ?? [])
}

/** Returns the list that a copy shows; undefined if it shows its recipient alone. */
export function listOf(
  { envelopes }: Pick<ContentDocument, 'envelopes'>,
  personal: RecipientData | null,
): VisibleList | undefined {
  const { to, cc, names } = personal ?? {}
  if (to === undefined || personal === null) return undefined
  if (to !== OF_ENVELOPE) return { to, ...defined({ cc, names }) }
  const list = envelopes?.[personal.envelope]
  if (!list) throw new Error('the content has no list of visible addresses for this envelope')
  return list
}
