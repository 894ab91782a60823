import { type HeaderFields, headerFields } from '../../mime/header-fields.ts'
import type { Leaves } from '../../mime/read-leaves.ts'
import { addressIn } from './address-in.ts'
import type { HumanText } from './human-text.ts'
import { marksOf, originalsOf } from './original.ts'
import type { FeedbackType, ReturnReading } from './return-reading.ts'

const MAX_OCTETS = 64 * 1024
const MAX_NAMED = 100
/** RFC 5965 7.3, RFC 6430, RFC 6591, and what providers write for them. */
const KINDS: ReadonlyMap<string, 'not-spam' | 'opt-out' | 'auth-failure' | FeedbackType> = new Map([
  ['abuse', 'abuse'],
  ['fraud', 'fraud'],
  ['virus', 'virus'],
  ['not-spam', 'not-spam'],
  ['opt-out', 'opt-out'],
  ['opt-out-list', 'opt-out'],
  ['auth-failure', 'auth-failure'],
])

/** Reads a feedback report (RFC 5965); undefined if the message is not one, or names no type. */
export function readFeedbackReport(message: Leaves, { lines, whole }: HumanText): ReturnReading | undefined {
  const report = reportOf(message, lines)
  const type = /^[\w-]{1,40}/.exec(report?.get('feedback-type') ?? '')?.[0].toLowerCase()
  if (!report || type === undefined) return undefined
  const marks = marksOf(originalsOf(message, whole), [report])
  const kind = KINDS.get(type) ?? 'other'
  if (kind === 'not-spam' || kind === 'opt-out' || kind === 'auth-failure') return { kind, marks }
  const recipients = report
    .all('original-rcpt-to')
    .slice(0, MAX_NAMED)
    .flatMap((value) => addressIn(value) ?? [])
  return { kind: 'complaint', feedbackType: kind, recipients, marks }
}

function reportOf({ leaves }: Leaves, lines: readonly string[]): HeaderFields | undefined {
  const part = leaves.find(({ type }) => type === 'message/feedback-report' || type === 'message/x-feedback-report')
  if (part) return headerFields(part.octets(MAX_OCTETS))
  // The type of the part was lost on the way.
  const at = lines.findIndex((line) => /^(feedback-type|user-agent|version):/i.test(line))
  const fields = at === -1 ? undefined : headerFields(Buffer.from(lines.slice(at).join('\n')))
  return fields?.get('version') === undefined && fields?.get('user-agent') === undefined ? undefined : fields
}

/** A message that Apple Mail sent to the address in List-Unsubscribe, when its user chose to unsubscribe. */
export function readUnsubscribe(message: Leaves, { whole }: HumanText): ReturnReading | undefined {
  if (!/^true$/i.test(message.fields.get('x-apple-unsubscribe') ?? '')) return undefined
  return { kind: 'opt-out', marks: marksOf(originalsOf(message, whole)) }
}

/** Complaints of JMRP before 2026: the whole message attached, without a report. */
export function readJunkMailReport(message: Leaves, { whole }: HumanText): ReturnReading | undefined {
  const { fields } = message
  if (!/\bstaff@hotmail\.com\b/i.test((fields.get('from') ?? '').slice(0, 500))) return undefined
  const originals = originalsOf(message, whole)
  if (!message.leaves.some(({ type }) => type === 'message/rfc822')) return undefined
  const recipients = originals.flatMap((original) => addressIn(original.get('x-hmxmroriginalrecipient') ?? '') ?? [])
  return { kind: 'complaint', feedbackType: 'abuse', recipients, marks: marksOf(originals) }
}
