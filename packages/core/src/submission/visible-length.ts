import type { SubmittedEnvelope } from './submission.ts'

/** Characters from which the copies of an envelope share its list of addresses: those of a small one are stored with each of them. */
const SHARED_FROM = 16 * 1024

/** Returns the characters of the addresses and names that each copy shows. */
export function visibleLength(
  { to, cc, names }: Pick<SubmittedEnvelope, 'to' | 'cc' | 'names'>,
  measure: (text: string) => number = ({ length }) => length,
): number {
  const texts = [...to, ...cc, ...[...(names ?? [])].flat()]
  return texts.reduce((sum, text) => sum + measure(text), 0)
}

/** Whether the list of an envelope is stored once, with the content (decision 47). */
export function isShared(envelope: Pick<SubmittedEnvelope, 'to' | 'cc' | 'bcc' | 'names'>): boolean {
  const copies = envelope.to.length + envelope.cc.length + envelope.bcc.length
  return copies > 1 && copies * visibleLength(envelope) > SHARED_FROM
}
