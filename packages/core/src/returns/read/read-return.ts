import { type Leaves, readLeaves } from '../../mime/read-leaves.ts'
import { addressIn, addressLine } from './address-in.ts'
import { hasSender, isAutoReply, isFromDaemon, isFromPerson, mayBeBounce } from './auto-reply.ts'
import { isDeliveryStatus, MAX_RECIPIENTS, readDeliveryStatus, statusesIn } from './delivery-status.ts'
import { readFeedbackReport, readJunkMailReport, readUnsubscribe } from './feedback-report.ts'
import { type HumanText, humanText } from './human-text.ts'
import { marksOf, originalsOf } from './original.ts'
import { readForeign } from './read-foreign.ts'
import type { ReturnReading } from './return-reading.ts'
import { readSesNotification } from './ses-notification.ts'
import { MAX_SEARCHED, replyIn, stageIn } from './smtp-reply.ts'
import { stagesIn } from './transcript.ts'
import { completedVerdict, type RecipientStatus, verdictOf } from './verdict.ts'

const MAX_EMBEDDED = 256 * 1024

/**
 * Reads a message that came back to a return path or to the address for complaints. Pure; takes time linear to its length, and never
 * throws, whatever the octets are. At most 10 MiB are read, of them 50 parts to a depth of 8, and 64 KiB of each header and of the
 * text. `returnPath` is the address that it was sent to; if it is not known, that in To. `mailFrom` is that of its transaction; if it is not
 * known, that in Return-Path. Nothing in the result is verified: the report may be forged, and it may name other recipients than those of
 * the delivery.
 */
export function readReturn(raw: Buffer, returnPath?: string, mailFrom?: string): ReturnReading {
  const message = { ...returnedTo(readLeaves(raw), returnPath), mailFrom }
  return read(message) ?? embeddedReport(message) ?? { kind: 'unrecognised' }
}

/** A message, and the address that it was sent to, which is that of the sender in replies that it quotes. */
interface Returned extends Leaves {
  readonly returnPath: string
  readonly mailFrom?: string | undefined
}

function returnedTo(message: Leaves, returnPath: string | undefined): Returned {
  return { ...message, returnPath: returnPath ?? addressIn((message.fields.get('to') ?? '').slice(0, 1000)) ?? '' }
}

/** The order matters: mail systems also mark their bounce reports as automatic. */
function read(message: Returned): ReturnReading | undefined {
  const human = humanText(message)
  const ofMachine =
    readFeedbackReport(message, human) ?? readJunkMailReport(message, human) ?? readUnsubscribe(message, human)
  if (isFromPerson(message.fields, message.mailFrom)) {
    return ofMachine ?? (isAutoReply(message.fields) ? { kind: 'auto-reply' } : undefined)
  }
  return (
    deliveryStatus(message, human) ??
    ofMachine ??
    bounce(message, human, 'fields-in-text', fieldsInText(human)) ??
    sesNotification(message, human) ??
    foreign(message, human) ??
    (isAutoReply(message.fields) ? { kind: 'auto-reply' } : undefined) ??
    bounce(message, human, 'unknown', replyInText(message, human))
  )
}

/** A gateway may attach the report that it received to one of its own, without details. */
function embeddedReport(message: Returned): ReturnReading | undefined {
  if (!isFromDaemon(message.fields)) return undefined
  for (const leaf of message.leaves) {
    if (leaf.type !== 'message/rfc822') continue
    const inner = returnedTo(readLeaves(leaf.octets(MAX_EMBEDDED)), message.returnPath)
    if (isFromDaemon(inner.fields)) return deliveryStatus(inner, humanText(inner))
  }
  return undefined
}

/** RFC 3464. Details that its fields lack are taken from the text for people. */
function deliveryStatus(message: Returned, human: HumanText): ReturnReading | undefined {
  const statuses = message.leaves.filter(isDeliveryStatus).flatMap(readDeliveryStatus).slice(0, MAX_RECIPIENTS)
  if (statuses.length === 0) return undefined
  const isAlone = statuses.length === 1
  const told = new Map<string, RecipientStatus>()
  for (const recipientStatus of readForeign(message.fields, human.lines)?.statuses ?? []) {
    const key = recipientStatus.recipient.toLowerCase()
    if (!told.has(key)) told.set(key, recipientStatus)
  }
  const stages = isAlone ? undefined : stagesIn(human.lines)
  const alone = isAlone ? stageIn(human.lines.join(' ').slice(0, MAX_SEARCHED)) : undefined
  const recipients = statuses.map((recipientStatus) => {
    const key = recipientStatus.recipient.toLowerCase()
    // A text that names no recipient is about the only one.
    const other = told.get(key) ?? (isAlone ? told.get('') : undefined)
    const written = HOST_ONLY.test(recipientStatus.text) ? '' : recipientStatus.text
    const said = written || other?.text || (isAlone ? replyInText(message, human)[0]?.text : undefined)
    const stage = recipientStatus.stage ?? other?.stage ?? alone ?? stages?.get(key)
    return completedVerdict(
      { ...recipientStatus, text: said ?? recipientStatus.text, stage },
      other,
      message.returnPath,
    )
  })
  return { kind: 'bounce', format: 'delivery-status', recipients, marks: marksOf(originalsOf(message, human.whole)) }
}

/** A name or address of a host instead of its reply. */
const HOST_ONLY = /^\[?[\w-]{1,63}(?:[.:][\w-]{1,63}){1,20}\]?$/

function foreign(message: Returned, human: HumanText): ReturnReading | undefined {
  const report = readForeign(message.fields, human.lines)
  return report && bounce(message, human, report.format, report.statuses)
}

function sesNotification(message: Returned, human: HumanText): ReturnReading | undefined {
  const notification = readSesNotification(human.whole)
  if (notification?.kind !== 'Complaint') return notification && bounce(message, human, 'ses', notification.statuses)
  const recipients = notification.statuses.map(({ recipient }) => recipient)
  return { kind: 'complaint', feedbackType: 'abuse', recipients, marks: marksOf([]) }
}

function bounce(
  message: Returned,
  { whole }: HumanText,
  format: string,
  statuses: readonly RecipientStatus[],
): ReturnReading | undefined {
  if (statuses.length === 0) return undefined
  const recipients = statuses.map((recipientStatus) => verdictOf(recipientStatus, message.returnPath))
  return { kind: 'bounce', format, recipients, marks: marksOf(originalsOf(message, whole)) }
}

/** Some servers write the fields of a report into its text. */
function fieldsInText({ lines }: HumanText): readonly RecipientStatus[] {
  if (!lines.some((line) => /^(final|original)-recipient:/i.test(line))) return []
  return statusesIn(Buffer.from(lines.join('\n')))
}

/** A reply at the beginning of a line, or after the words that announce it. */
const SAID = /^(?:.{0,300}[:;.>)] ?)?["'<([]{0,2}[45][0-5]\d[- ]/

/**
 * The first reply in the text, if a format is unknown. Not that of a letter, in which numbers are no replies, unless its sender is unknown and
 * the enhanced code makes it certain.
 */
function replyInText({ fields, mailFrom }: Returned, { lines }: HumanText): readonly RecipientStatus[] {
  const failed = fields.get('x-failed-recipients')
  const isLikely = mayBeBounce(fields)
  if (!isLikely && hasSender(fields, mailFrom)) return []
  const at = lines.findIndex((line) => SAID.test(line.trimStart()) && isReply(line, isLikely))
  if (at === -1 && failed === undefined) return []
  const recipient = addressIn((failed ?? '').slice(0, 1000)) ?? ''
  // Without a reply, what follows the recipient is the reason.
  const from = at === -1 ? lines.findIndex((line) => recipient !== '' && addressLine(line)?.address === recipient) : at
  const end = at === -1 ? -1 : lines.indexOf('', at)
  const text = lines.slice(Math.max(from, 0), end === -1 ? undefined : end).join(' ')
  return [{ recipient, action: 'failed', status: '', text, stage: stageIn(lines.join(' ').slice(0, MAX_SEARCHED)) }]
}

function isReply(line: string, isLikely: boolean): boolean {
  const { code, enhanced } = replyIn(line)
  return code !== 0 && (isLikely || enhanced !== '')
}
