import { type Leaves, readLeaves } from '../../mime/read-leaves.ts'
import { addressIn } from './address-in.ts'
import { isAutoReply, isFromDaemon } from './auto-reply.ts'
import { findingsIn, isDeliveryStatus, MAX_RECIPIENTS, readDeliveryStatus } from './delivery-status.ts'
import { readFeedbackReport, readJunkMailReport } from './feedback-report.ts'
import { type HumanText, humanText } from './human-text.ts'
import { marksOf, originalsOf, quotedOriginal } from './original.ts'
import { readForeign } from './read-foreign.ts'
import type { ReturnReading } from './return-reading.ts'
import { readSesNotification } from './ses-notification.ts'
import { replyIn, stageIn } from './smtp-reply.ts'
import { stageFor } from './transcript.ts'
import { type Finding, verdictOf } from './verdict.ts'

const MAX_EMBEDDED = 256 * 1024

/**
 * Reads a message that came back to a return path or to the address for complaints. Pure; takes time linear to its length, and never
 * throws, whatever the octets are. At most 10 MiB are read, of them 50 parts to a depth of 8, and 64 KiB of each header and of the
 * text. Nothing in the result is verified: the report may be forged, and it may name other recipients than those of the delivery.
 */
export function readReturn(raw: Buffer): ReturnReading {
  const message = readLeaves(raw)
  return read(message) ?? embeddedReport(message) ?? { kind: 'unrecognised' }
}

/** The order matters: mail systems also mark their bounce reports as automatic. */
function read(message: Leaves): ReturnReading | undefined {
  const human = humanText(message)
  return (
    deliveryStatus(message, human) ??
    readFeedbackReport(message, human.lines) ??
    readJunkMailReport(message) ??
    bounce(message, human, 'fields-in-text', fieldsInText(human)) ??
    sesNotification(message, human) ??
    foreign(message, human) ??
    (isAutoReply(message.fields) ? { kind: 'auto-reply' } : undefined) ??
    bounce(message, human, 'unknown', replyInText(message, human))
  )
}

/** A gateway may attach the report that it received to one of its own, without details. */
function embeddedReport(message: Leaves): ReturnReading | undefined {
  if (!isFromDaemon(message.fields)) return undefined
  for (const leaf of message.leaves) {
    if (leaf.type !== 'message/rfc822') continue
    const inner = readLeaves(leaf.octets(MAX_EMBEDDED))
    if (isFromDaemon(inner.fields)) return deliveryStatus(inner, humanText(inner))
  }
  return undefined
}

/** RFC 3464. Details that its fields lack are taken from the text for people. */
function deliveryStatus(message: Leaves, human: HumanText): ReturnReading | undefined {
  const findings = message.leaves.filter(isDeliveryStatus).flatMap(readDeliveryStatus).slice(0, MAX_RECIPIENTS)
  if (findings.length === 0) return undefined
  const told = new Map<string, Finding>()
  for (const finding of readForeign(message.fields, human.lines)?.findings ?? []) {
    const key = finding.recipient.toLowerCase()
    if (!told.has(key)) told.set(key, finding)
  }
  const alone = findings.length === 1
  const completed = findings.map((finding) => {
    const other = told.get(finding.recipient.toLowerCase())
    const text = finding.text || other?.text || ''
    const stage = finding.stage ?? other?.stage ?? stageFor(finding.recipient, human.lines, alone)
    return { ...finding, text, stage }
  })
  return bounce(message, human, 'delivery-status', completed)
}

function foreign(message: Leaves, human: HumanText): ReturnReading | undefined {
  const report = readForeign(message.fields, human.lines)
  return report && bounce(message, human, report.format, report.findings)
}

function sesNotification(message: Leaves, human: HumanText): ReturnReading | undefined {
  const notification = readSesNotification(human.whole)
  if (notification?.kind !== 'Complaint') return notification && bounce(message, human, 'ses', notification.findings)
  const recipients = notification.findings.map(({ recipient }) => recipient)
  return { kind: 'complaint', feedbackType: 'abuse', recipients, marks: marksOf([]) }
}

function bounce(
  message: Leaves,
  { quoted }: HumanText,
  format: string,
  findings: readonly Finding[],
): ReturnReading | undefined {
  if (findings.length === 0) return undefined
  const returnPath = addressIn((message.fields.get('to') ?? '').slice(0, 1000)) ?? ''
  const recipients = findings.map((finding) => verdictOf(finding, returnPath))
  const originals = originalsOf(message)
  return {
    kind: 'bounce',
    format,
    recipients,
    marks: marksOf(originals.length > 0 ? originals : quotedOriginal(quoted)),
  }
}

/** Some servers write the fields of a report into its text. */
function fieldsInText({ lines }: HumanText): readonly Finding[] {
  if (!lines.some((line) => /^(final|original)-recipient:/i.test(line))) return []
  return findingsIn(Buffer.from(lines.join('\n')))
}

/** A reply at the beginning of a line, or after the words that announce it. */
const SAID = /^(?:.{0,300}[:;.>)] ?)?["'<([]{0,2}[45][0-5]\d[- ]/

/** The first reply in the text, if a format is unknown. */
function replyInText({ fields }: Leaves, { lines }: HumanText): readonly Finding[] {
  const failed = fields.get('x-failed-recipients')
  const at = lines.findIndex((line) => SAID.test(line) && replyIn(line).code !== 0)
  if (at === -1 && failed === undefined) return []
  const end = at === -1 ? -1 : lines.indexOf('', at)
  const text = (at === -1 ? lines : lines.slice(at, end === -1 ? undefined : end)).join(' ')
  const recipient = addressIn((failed ?? '').slice(0, 1000)) ?? ''
  return [{ recipient, action: 'failed', status: '', text, stage: stageIn(lines.join(' ').slice(0, 4096)) }]
}
