import type { Principal } from '../accounts/keys/api-key.ts'
import type { ConformedBody } from '../mime/conformance/body.ts'
import { encodingOfComposite } from '../mime/conformance/composite.ts'
import { essenceOf } from '../mime/media-type.ts'
import type { MessageParts } from '../mime/message-parts.ts'
import { readable } from '../mime/words.ts'
import { atOnce, inTurns } from '../platform/concurrency/turns.ts'
import { defined } from '../platform/defined.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import type { StatusNotifications } from '../submission/status-notifications.ts'
import type { Submission, SubmittedContent } from '../submission/submission.ts'
import { type Controls, isRemoved } from './control-headers.ts'
import { MAX_COPIED_BYTES, sizeOf } from './copies.ts'
import { headersOf, parseMailboxes, replyToOf, stringOf, toAttachment } from './decompose-mime.ts'
import { fingerprintOf } from './fingerprint.ts'
import {
  type FindForeign,
  type KeptMessage,
  type VerifySignatures,
  withoutForeign,
  withVerifiedSignatures,
} from './foreign-fields.ts'
import { type Field, hasShortHeader, type SplitMessage } from './header.ts'
import { type Head, readHeader } from './read-header.ts'
import { withSender } from './replace-sender.ts'
import { followSmtpApi } from './smtpapi/follow-smtpapi.ts'
import { findSmtpApi, type SmtpApi } from './smtpapi/smtpapi.ts'
import type { SmtpApiProblem } from './smtpapi/smtpapi-values.ts'

/** Where a message came from. */
export interface Trace {
  readonly helo: string
  readonly address: string
  readonly protocol: string
}

/** How a message came, and what that says of it. */
export interface RawEntry extends Pick<Submission, 'door' | 'nameOf'> {
  /** Takes the place of that in the message. */
  readonly idempotencyKey?: string | undefined
  readonly traceParent?: string | undefined
}

export interface ReceivedMessage {
  readonly entry: RawEntry
  /** Lines end with CRLF. Split at any position, but the first chunk contains the whole header. */
  readonly pieces: readonly Buffer[]
  /** Offset of the last line that is longer than SMTP permits; -1 if there is none. */
  readonly lastLongLine: number
  /** Whether parts of it may have to be corrected. */
  readonly hasOddParts: boolean
  readonly recipients: readonly string[]
  /** MAIL FROM:<> */
  readonly nullSender: boolean
  /** The domain of addresses that have none. */
  readonly senderDomain: string | undefined
  readonly principal: Principal
  readonly notifications?: StatusNotifications | undefined
  readonly trace: Trace
  readonly now: Date
  /** Reserves the message's size a second time, for its parts. Throws overloaded. */
  readonly hold: () => void
  /** Reads the parts of a MIME message. Throws messageMalformed, overloaded. */
  readonly readParts: (message: readonly Buffer[]) => Promise<MessageParts>
  /** Encodes the parts with such lines, and corrects what readers do not understand. Throws the same errors. */
  readonly conformBody: (message: readonly Buffer[]) => Promise<ConformedBody>
  /** The address that it has to be sent from instead of that in From, if any; nearly always there is nothing to wait for. */
  readonly senderInstead: (from: string) => Promise<string | undefined> | undefined
  /** The fields that are in another's name. */
  readonly findForeign: FindForeign
  readonly verifySignatures: VerifySignatures
  /** Reports the objects named in X-SMTPAPI that the account does not have. */
  readonly unknown: (api: SmtpApi) => Promise<SmtpApiProblem[]>
}

export interface ParsedMessage {
  readonly submission: Submission
  /** Why nothing is sent, for the notice to the sender; empty if the message is sent. */
  readonly problems: readonly SmtpApiProblem[]
  /** Description of the corrections made in the message, for the reply; undefined if there are none. */
  readonly corrected?: string | undefined
}

/**
 * Converts a MIME message to a Submission. The envelope has the recipients; the header has the sender and the directives
 * to the service.
 *
 * Throws messageMalformed, mailLoop, parameterInvalid, parameterMissing, overloaded.
 */
export async function toSubmission(received: ReceivedMessage): Promise<ParsedMessage> {
  const [first] = received.pieces as [Buffer]
  const reading = readHeader(first, received.senderDomain)
  const read = hasShortHeader(first) ? atOnce(reading) : await inTurns(reading)
  const search = read.from && received.senderInstead(read.from.email)
  const instead = search && (await search)
  const named = instead === undefined ? read : await withSender(read, instead)
  const judged = withoutForeign(named, received.findForeign)
  const head = judged instanceof Promise ? await judged : judged
  const message = { ...received, pieces: [head.first, ...received.pieces.slice(1)] }
  const [isOdd, isWithSignature] = [needsConforming(message, head), isSigned(head)]
  // One thread reads it after the other.
  if (isOdd || isWithSignature) received.hold()
  const conformed = isOdd
    ? await conformedMessage(message, head)
    : { pieces: keptPieces(message, head), corrections: [] }
  const { pieces: kept, corrections } = isWithSignature
    ? await withVerifiedSignatures(conformed, received.verifySignatures)
    : conformed
  const all = [...head.corrections, ...corrections].join('; ')
  const corrected = all === '' ? undefined : all.slice(0, MAX_CORRECTIONS)
  return { ...(await parseReceived(message, head, { kept, corrected })), corrected }
}

/** Maximum characters of the corrections in the reply. */
const MAX_CORRECTIONS = 300

interface Conformed {
  /** The message without its control fields. */
  readonly kept: readonly Buffer[]
  readonly corrected: string | undefined
}

async function parseReceived(
  received: ReceivedMessage,
  head: Head,
  { kept, corrected }: Conformed,
): Promise<ParsedMessage> {
  const { pieces, recipients, nullSender, principal, notifications, trace, entry } = received
  const { fields, bodyStart, controls } = head
  const written = findSmtpApi(fields)
  const idempotencyKey = entry.idempotencyKey ?? controls.idempotencyKey
  const mime: SubmittedContent = {
    kind: 'mime',
    pieces: kept,
    trace,
    lacksDate: head.lacksDate,
    lacksMessageId: head.lacksMessageId,
    messageId: head.messageId,
    nullReturnPath: nullSender,
    ...(head.hasAttachment ? { hasAttachment: true } : {}),
    corrected,
  }
  const submission: Submission = {
    door: entry.door,
    rules: 'smtp',
    principal,
    clientAddress: trace.address,
    ...(notifications ? { notifications } : {}),
    from: head.from,
    subject: head.subject,
    replyTo: undefined,
    content: mime,
    templateId: controls.templateId,
    attachmentIds: [],
    attachments: [],
    envelopes: [
      {
        to: recipients,
        cc: [],
        bcc: controls.bcc,
        reference: controls.reference,
        referenceCc: undefined,
        attributes: controls.attributes,
        ...defined({ customArgs: controls.metadata }),
        headers: {},
        attachments: [],
      },
    ],
    tags: controls.tags,
    settings: controls.settings,
    scheduledAt: undefined,
    idempotencyKey,
    traceParent: entry.traceParent ?? controls.traceParent,
    fingerprint: idempotencyKey === undefined ? undefined : await fingerprintOf(recipients, fields, pieces, bodyStart),
    nameOf: entry.nameOf,
  }
  if (controls.templateId !== undefined) checkAttributes(controls.attributes, recipients.length)
  const parts = async (): Promise<MessageParts> => {
    received.hold()
    return received.readParts(contentOf({ pieces, fields, bodyStart }))
  }
  const templated =
    controls.templateId === undefined
      ? submission
      : withTemplate({ submission, head: pieces[0] as Buffer, fields, controls, parts: await parts() })
  // A blank value is treated like an empty object.
  if (written === undefined || written.trim() === '') return { submission: templated, problems: [] }
  const message = { head: pieces[0] as Buffer, fields, parts }
  const target = { submission: templated, message, recipients, now: received.now }
  const followed = await followSmtpApi(written, target, received.unknown)
  return 'problems' in followed
    ? dropped(submission, followed.problems)
    : { submission: followed.submission, problems: [] }
}

function keptPieces({ pieces }: ReceivedMessage, { kept }: Head): Buffer[] {
  return [kept, ...pieces.slice(1)]
}

function needsConforming({ hasOddParts, lastLongLine }: ReceivedMessage, head: Head): boolean {
  return hasOddParts || lastLongLine >= head.receivedBodyStart || isEncodedComposite(head)
}

/** The message without its control fields, with the parts encoded that no server has to carry. */
async function conformedMessage(received: ReceivedMessage, head: Head): Promise<KeptMessage> {
  const pieces = keptPieces(received, head)
  const conformed = await received.conformBody(pieces)
  if (conformed.kind === 'impossible')
    throw new ServiceError('messageMalformed', { values: { problem: conformed.problem } })
  if (conformed.kind === 'unchanged') return { pieces, corrections: [] }
  const { buffer, byteOffset, length } = conformed.message
  return { pieces: [Buffer.from(buffer, byteOffset, length)], corrections: [conformed.what] }
}

function isSigned({ fields, controls }: Head): boolean {
  // A message that is composed again has no signatures.
  return controls.templateId === undefined && fields.some(({ name }) => name === 'dkim-signature')
}

function isEncodedComposite({ fields }: Head): boolean {
  const valueIn = (wanted: string): string => fields.find(({ name }) => name === wanted)?.value ?? ''
  const encoding = valueIn('content-transfer-encoding')
  return encoding !== '' && encodingOfComposite(essenceOf(valueIn('content-type')), encoding) !== undefined
}

/** Maximum characters of the problems stored with each delivery; the notice to the sender has all of them. */
const MAX_PROBLEM_LENGTH = 500

/** The submission, accepted and dropped for all recipients. */
function dropped(submission: Submission, problems: readonly SmtpApiProblem[]): ParsedMessage {
  // Without the client's own keys: an address among them would remain after its recipient is erased.
  const all = problems.map(({ path, problem }) => `${path.split('.', 1)[0]}: ${problem}`).join('; ')
  const kept = all.length > MAX_PROBLEM_LENGTH ? `${all.slice(0, MAX_PROBLEM_LENGTH).toWellFormed()}…` : all
  return {
    submission: { ...submission, templateId: undefined, dropped: 'instructions', droppedProblem: kept },
    problems,
  }
}

/** Fields that determine how the body is parsed. */
const CONTENT_FIELDS = new Set(['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'])

/** The message with only those fields; the parser of the parts needs no others. */
function contentOf({
  pieces,
  fields,
  bodyStart,
}: Pick<ReceivedMessage, 'pieces'> & Pick<SplitMessage, 'fields' | 'bodyStart'>): Buffer[] {
  const [first, ...others] = pieces as readonly [Buffer, ...Buffer[]]
  const head = fields.filter(({ name }) => CONTENT_FIELDS.has(name)).map(({ start, end }) => first.subarray(start, end))
  return [...head, Buffer.from('\r\n'), first.subarray(bodyStart), ...others]
}

/** Each recipient has a copy of the attributes. */
function checkAttributes(attributes: Controls['attributes'], recipients: number): void {
  if (sizeOf(Object.entries(attributes)) * recipients <= MAX_COPIED_BYTES) return
  throw invalidParameter('X-ATTRIBUTES', 'too large for this number of recipients')
}

interface Templated {
  readonly submission: Submission
  /** The bytes that the fields' offsets refer to. */
  readonly head: Buffer
  readonly fields: readonly Field[]
  readonly controls: Controls
  readonly parts: MessageParts
}

/** X-TEMPLATEID: the template's content replaces that of the message; names, subject, header fields and attachments stay. */
function withTemplate({ submission, head, fields, controls, parts }: Templated): Submission {
  const { html, text, files, complete } = parts
  if (!complete) throw new ServiceError('messageMalformed', { values: { problem: 'its MIME parts cannot be parsed' } })
  const own = fields.filter((field) => !isRemoved(field))
  // With too many or too long ones, the message goes without them.
  const headers = headersOf(head, own) ?? {}
  const subject = own.find(({ name }) => name === 'subject')?.value
  return {
    ...submission,
    from: submission.from && { ...submission.from, name: parseMailboxes(own, 'from')[0]?.name ?? '' },
    // That of the submission is shortened, to be shown.
    ...defined({ subject: subject === undefined ? undefined : readable(subject) }),
    ...replyToOf(parseMailboxes(own, 'reply-to')),
    content: { kind: 'parts', html: stringOf(html ?? text) ?? '', text: undefined, amp: undefined, headers },
    attachments: files.map(toAttachment),
    envelopes: submission.envelopes.flatMap((envelope) =>
      envelope.to.map((recipient, at) => ({
        ...envelope,
        to: [recipient],
        bcc: at === 0 ? controls.bcc : [],
      })),
    ),
  }
}
