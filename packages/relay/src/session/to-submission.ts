import {
  defined,
  essenceOf,
  inTurns,
  invalidParameter,
  LIMITS,
  longWork,
  type MessageParts,
  type Principal,
  parseAddress,
  readable,
  ServiceError,
  type Stoppable,
  type Submission,
  type SubmittedContent,
} from '@postrider/core'
import { type Controls, isRemoved, readControls } from '../message/control-headers.ts'
import { MAX_COPIED_BYTES, sizeOf } from '../message/copies.ts'
import { headersOf, parseMailboxes, replyToOf, stringOf, toAttachment } from '../message/decompose-mime.ts'
import { fingerprintOf } from '../message/fingerprint.ts'
import { type Field, type SplitMessage, splitHeader, withoutFields } from '../message/header.ts'
import { onlyMailbox } from '../message/mailboxes.ts'
import { repaired } from '../message/repair.ts'
import { nameOf } from '../message/submission-names.ts'
import { findSmtpApi, readSmtpApi, type SmtpApi } from '../smtpapi/smtpapi.ts'
import { applySmtpApi, problemsOf } from '../smtpapi/smtpapi-submission.ts'
import type { SmtpApiProblem } from '../smtpapi/smtpapi-values.ts'

export interface ReceivedMessage {
  /** Lines end with CRLF. Split at any position, but the first chunk contains the whole header. */
  readonly pieces: readonly Buffer[]
  readonly recipients: readonly string[]
  /** MAIL FROM:<> */
  readonly nullSender: boolean
  /** The domain of addresses that have none. */
  readonly senderDomain: string | undefined
  readonly principal: Principal
  readonly trace: { readonly helo: string; readonly address: string; readonly protocol: string }
  readonly now: Date
  /** Reserves the message's size a second time, for its parts. Throws overloaded. */
  readonly hold: () => void
  /** Reads the parts of a MIME message. Throws messageMalformed, overloaded. */
  readonly readParts: (message: readonly Buffer[]) => Promise<MessageParts>
  /** Reports the objects named in X-SMTPAPI that the account does not have. */
  readonly unknown: (api: SmtpApi) => Promise<SmtpApiProblem[]>
}

export interface ParsedMessage {
  readonly submission: Submission
  /** Why nothing is sent, for the notice to the sender; empty if the message is sent. */
  readonly problems: readonly SmtpApiProblem[]
  /** Description of the corrections made in the message, for the reply; undefined if there are none. */
  readonly corrected?: string
}

/** Maximum characters of the subject in lists and events; the message itself keeps the whole subject. */
const SUBJECT_LENGTH = 512
/** Characters that are decoded for it: an encoded word has at most 16 per character. */
const SUBJECT_BYTES = 16 * SUBJECT_LENGTH

/**
 * Converts a message received over SMTP to a Submission. The envelope has the recipients; the header has the sender and the directives
 * to the service.
 *
 * Throws messageMalformed, mailLoop, parameterInvalid, parameterMissing, overloaded.
 */
export async function toSubmission(received: ReceivedMessage): Promise<ParsedMessage> {
  const head = await inTurns(readHeader(received.pieces[0] as Buffer, received.senderDomain))
  const parsed = await parseReceived({ ...received, pieces: [head.first, ...received.pieces.slice(1)] }, head)
  return { ...parsed, ...defined({ corrected: head.corrected }) }
}

async function parseReceived(received: ReceivedMessage, head: Head): Promise<ParsedMessage> {
  const { pieces, recipients, nullSender, principal, trace } = received
  const { fields, bodyStart, controls, written } = head
  const mime: SubmittedContent = {
    kind: 'mime',
    pieces: [head.kept, ...pieces.slice(1)],
    trace,
    lacksDate: head.lacksDate,
    lacksMessageId: head.lacksMessageId,
    nullReturnPath: nullSender,
    ...(head.hasAttachment ? { hasAttachment: true } : {}),
  }
  const submission: Submission = {
    door: 'smtp',
    principal,
    clientAddress: trace.address,
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
        headers: {},
        attachments: [],
      },
    ],
    tags: controls.tags,
    settings: controls.settings,
    scheduledAt: undefined,
    idempotencyKey: controls.idempotencyKey,
    traceParent: controls.traceParent,
    fingerprint:
      controls.idempotencyKey === undefined ? undefined : await fingerprintOf(recipients, fields, pieces, bodyStart),
    nameOf,
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
  const reading = await inTurns(readSmtpApi(written, received.now))
  const work = longWork()
  const problems = reading.kind === 'wrong' ? reading.problems : problemsOf(reading.api, recipients)
  if (reading.kind === 'wrong' || problems.length > 0) return dropped(submission, problems)
  await work.pause()
  const unknown = await received.unknown(reading.api)
  if (unknown.length > 0) return dropped(submission, unknown)
  const message = { head: pieces[0] as Buffer, fields, parts }
  const applied = await applySmtpApi({ submission: templated, message, recipients, now: received.now }, reading.api)
  await work.pause()
  return 'problem' in applied ? dropped(submission, [applied]) : { submission: applied, problems: [] }
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

interface Head extends SplitMessage {
  /** The first chunk of the message, with a corrected header if necessary. */
  readonly first: Buffer
  readonly corrected: string | undefined
  readonly controls: Controls
  readonly from: Submission['from']
  readonly subject: string | undefined
  /** The first chunk without the fields that are removed. */
  readonly kept: Buffer
  readonly lacksDate: boolean
  readonly lacksMessageId: boolean
  readonly hasAttachment: boolean
  /** The value of X-SMTPAPI. */
  readonly written: string | undefined
}

/** Reads the header. Each step visits all fields; with a hundred thousand fields, a step takes 2 ms. */
function* readHeader(first: Buffer, domain: string | undefined, corrected?: string): Stoppable<Head> {
  const split = yield* splitHeader(first)
  const { fields } = split
  checkHops(fields)
  yield
  const better = corrected === undefined ? repaired(first, fields, domain) : undefined
  if (better) return yield* readHeader(better.header, undefined, better.corrected)
  yield
  const controls = yield* readControls(fields)
  yield
  const from = senderOf(fields)
  yield
  const removed = fields.filter(isRemoved)
  yield
  const kept = yield* withoutFields(first, removed)
  yield
  const lacksDate = !fields.some(({ name }) => name === 'date')
  yield
  const lacksMessageId = !fields.some(({ name }) => name === 'message-id')
  yield
  const hasAttachment = isOfFiles(fields.find(({ name }) => name === 'content-type')?.value ?? '')
  yield
  const subject = shownSubject(fields)
  yield
  return {
    ...split,
    first,
    corrected,
    controls,
    from,
    subject,
    kept,
    lacksDate,
    lacksMessageId,
    hasAttachment,
    written: findSmtpApi(fields),
  }
}

/** Whether a message of this media type has attachments. */
function isOfFiles(type: string): boolean {
  const essence = essenceOf(type)
  return essence === 'multipart/mixed' || /^(?:application|audio|image|video)\//.test(essence)
}

function checkHops(fields: readonly Field[]): void {
  const hops = fields.filter(({ name }) => name === 'received').length
  if (hops > LIMITS.receivedHeaders) throw new ServiceError('mailLoop', { values: { limit: LIMITS.receivedHeaders } })
}

/**
 * Matches nearly every From: a name or quoted name with an address in angle brackets, or an address alone. Each character can match in
 * only one way, so the time is linear in the length.
 */
const PLAIN_FROM = /^(?:"(?:[^"\\]|\\.)*"[ \t]*|[^"<>@,;:()\\[\]]*)<([^<>"\s()]+)>$|^([^<>"\s(),;:]+)$/
/** Requires exactly one From field with one address: it is what the recipient sees and what DKIM vouches for. */
function senderOf(fields: readonly Field[]): Submission['from'] {
  const found = fields.filter(({ name }) => name === 'from')
  if (found.length === 0) return undefined
  if (found.length > 1) throw new ServiceError('messageMalformed', { values: { problem: 'more than one From field' } })
  const value = found[0]?.value ?? ''
  const plain = PLAIN_FROM.exec(value)
  const email = plain ? (plain[1] ?? plain[2]) : onlyMailbox(value)?.email
  if (!email || !parseAddress(email)) {
    throw new ServiceError('messageMalformed', {
      values: { problem: 'the From field must contain exactly one address' },
    })
  }
  return { email, name: '' }
}

function shownSubject(fields: readonly Field[]): string | undefined {
  const value = fields.find(({ name }) => name === 'subject')?.value
  if (value === undefined) return undefined
  return readable(value.slice(0, SUBJECT_BYTES)).slice(0, SUBJECT_LENGTH).toWellFormed()
}

/** Fields that determine how the body is parsed. */
const CONTENT_FIELDS = new Set(['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'])

/** The message with only those fields; the parser of the parts needs no others. */
function contentOf({ pieces, fields, bodyStart }: Pick<ReceivedMessage, 'pieces'> & SplitMessage): Buffer[] {
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
