import { readTrackingToken } from '../composition/links/token.ts'
import { type ReturnPathTarget, readMark } from '../delivery/return-path.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import type { Mentioned } from './read/letter.ts'
import type { Reading } from './return-result.ts'

/** Days after which a complaint has no effect. Recipients complain about mail that they find weeks later. */
const COMPLAINT_DAYS = 90
/** Days for which a person may write about a message. */
const LETTER_DAYS = 365
/** Values of a report that are looked at. */
const MAX_CANDIDATES = 50

export interface TargetQuestion {
  readonly secrets: Secrets
  /** The recipients of the report: addresses of the envelope, or those that the server of the operator wrote into its header. */
  readonly recipients: readonly string[]
  readonly reading: Reading
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Returns the delivery of a report; undefined if nothing in it is signed by this service. A bounce report is tied by the return path that it was
 * sent to; a complaint also by that of the returned message, its X-PR-Ref, or its link to unsubscribe: anybody may forge the rest.
 */
export function findTarget({ secrets, recipients, reading, now }: TargetQuestion): ReturnPathTarget | undefined {
  const marks = 'marks' in reading && reading.kind !== 'bounce' ? reading.marks : undefined
  const { references = [], returnPaths = [], originalMailFrom = [] } = marks ?? {}
  const validity = { now, ...(marks ? { validDays: COMPLAINT_DAYS } : {}) }
  const candidates = [
    ...references.map((text) => ({ kind: 'reference', text }) as const),
    ...[...recipients, ...returnPaths, ...originalMailFrom].map((text) => ({ kind: 'returnPath', text }) as const),
  ]
  for (const { kind, text } of candidates.slice(0, MAX_CANDIDATES)) {
    const found = readMark(secrets, kind, { local: localPartOf(text), ...validity })
    if (found) return found
  }
  for (const list of (marks?.listUnsubscribe ?? []).slice(0, MAX_CANDIDATES)) {
    const found = unsubscribeTarget(secrets, list)
    if (found) return found
  }
  return undefined
}

/** Returns the delivery of a message that a letter has attached or quotes; undefined if nothing in it is signed by this service. */
export function findMentioned(
  secrets: Secrets,
  { marks, tokens }: Mentioned,
  now: number,
): ReturnPathTarget | undefined {
  for (const local of marks) {
    const kind = local.startsWith('c-') ? 'reference' : 'returnPath'
    const found = readMark(secrets, kind, { local, now, validDays: LETTER_DAYS })
    if (found) return found
  }
  for (const token of tokens) {
    const found = readTrackingToken(secrets, token)
    if (found) return { messageId: found.messageId, recipientNo: found.recipientNo }
  }
  return undefined
}

/** X-PR-Ref has no host. */
function localPartOf(path: string): string {
  return path.trim().replace(/^</, '').split('@', 1)[0] ?? ''
}

/** Of `<https://host/t/u/TOKEN>, <mailto:…>`. */
function unsubscribeTarget(secrets: Secrets, list: string): ReturnPathTarget | undefined {
  for (const part of list.split(/[\s,<>]/)) {
    const token = part.slice(part.lastIndexOf('/') + 1)
    const target = part.startsWith('http') ? readTrackingToken(secrets, token) : undefined
    if (target?.kind === 'unsubscribe') return target
  }
  return undefined
}
