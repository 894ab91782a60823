import {
  LIMITS,
  type Principal,
  parseAddress,
  ServiceError,
  type Submission,
  type SubmissionField,
  type SubmittedContent,
} from '@postrider/core'
import addresses from 'email-addresses'
import { type Controls, isRemoved, readControls } from './control-headers.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type Field, splitHeader, withoutFields } from './header.ts'
import { readSmtpApi, type SmtpApi, smtpApiOf } from './smtpapi.ts'
import { problemsOf, steer } from './smtpapi-submission.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'
import { parseMail, subjectOf } from './take-apart.ts'

export interface ReceivedMessage {
  /** CRLF line ends only; cut anywhere, but the first piece holds all of the header. */
  readonly pieces: readonly Buffer[]
  readonly recipients: readonly string[]
  /** MAIL FROM:<> */
  readonly nullSender: boolean
  readonly principal: Principal
  readonly trace: { readonly helo: string; readonly address: string; readonly protocol: string }
  readonly now: Date
  /** Makes room for the message once more. Throws overloaded. */
  readonly hold: () => void
  /** What the account does not have of what X-SMTPAPI names. */
  readonly unknown: (api: SmtpApi) => Promise<SmtpApiProblem[]>
}

export interface Unwrapped {
  readonly submission: Submission
  /** Why nothing of it is sent, for its sender; none: all is well. */
  readonly problems: readonly SmtpApiProblem[]
}

/** Characters of a subject that are kept for lists and events; the message itself keeps all of it. */
const SUBJECT_KEPT = 512

/**
 * Unwraps what an SMTP client sent into a Submission. The envelope says who gets it; the header, who it is from and how the
 * service is to treat it.
 *
 * Throws messageMalformed, mailLoop, parameterInvalid, parameterMissing, overloaded.
 */
export async function toSubmission(received: ReceivedMessage): Promise<Unwrapped> {
  const { pieces, recipients, nullSender, principal, trace } = received
  const { fields, bodyStart } = splitHeader(pieces[0] as Buffer)
  checkHops(fields)
  const controls = readControls(fields)
  const from = senderOf(fields)
  const kept = [withoutFields(pieces[0] as Buffer, fields.filter(isRemoved)), ...pieces.slice(1)]
  const has = (wanted: string): boolean => fields.some(({ name }) => name === wanted)
  const mime: SubmittedContent = {
    kind: 'mime',
    pieces: kept,
    trace,
    lacksDate: !has('date'),
    lacksMessageId: !has('message-id'),
    nullReturnPath: nullSender,
  }
  const submission: Submission = {
    door: 'smtp',
    principal,
    clientAddress: trace.address,
    from,
    subject: subjectOf(fields)?.slice(0, SUBJECT_KEPT).toWellFormed(),
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
    fingerprint:
      controls.idempotencyKey === undefined
        ? undefined
        : fingerprintOf(recipients, fields, Buffer.concat(pieces), bodyStart),
    nameOf,
  }
  const whole = () => Buffer.concat(kept)
  const templated = controls.templateId === undefined ? submission : await withTemplate(submission, whole(), controls)
  const written = smtpApiOf(fields)
  // Blank says as little as an empty object does.
  if (written === undefined || written.trim() === '') return { submission: templated, problems: [] }
  const reading = readSmtpApi(written, received.now)
  const problems = reading.kind === 'wrong' ? reading.problems : problemsOf(reading.api, recipients)
  const dropped: Submission = { ...submission, templateId: undefined, dropped: 'instructions' }
  if (reading.kind === 'wrong' || problems.length > 0) return { submission: dropped, problems }
  const unknown = await received.unknown(reading.api)
  if (unknown.length > 0) return { submission: dropped, problems: unknown }
  const message = { octets: whole, head: pieces[0] as Buffer, fields }
  const { now, hold } = received
  const steered = await steer({ submission: templated, message, recipients, now, hold }, reading.api)
  return 'problem' in steered ? { submission: dropped, problems: [steered] } : { submission: steered, problems: [] }
}

function checkHops(fields: readonly Field[]): void {
  const hops = fields.filter(({ name }) => name === 'received').length
  if (hops > LIMITS.receivedHeaders) throw new ServiceError('mailLoop', { values: { limit: LIMITS.receivedHeaders } })
}

/**
 * Nearly every From: a name, or a quoted one, and an address in brackets; or an address alone. Each character has one way to
 * match, so that no value takes longer than its length.
 */
const PLAIN_FROM = /^(?:"(?:[^"\\]|\\.)*"[ \t]*|[^"<>@,;:()\\[\]]*)<([^<>"\s()]+)>$|^([^<>"\s(),;:]+)$/
/** Characters of any other From that are parsed: the parser takes time with their square, and nested comments fill its stack. */
const LONGEST_FROM = 512

/** Exactly one From field with one address: it is what the reader sees and what DKIM answers for. */
function senderOf(fields: readonly Field[]): Submission['from'] {
  const found = fields.filter(({ name }) => name === 'from')
  if (found.length === 0) return undefined
  if (found.length > 1) throw new ServiceError('messageMalformed', { values: { problem: 'more than one From field' } })
  const value = found[0]?.value ?? ''
  const plain = PLAIN_FROM.exec(value)
  const email = plain ? (plain[1] ?? plain[2]) : parsedAddress(value)
  if (!email || !parseAddress(email)) {
    throw new ServiceError('messageMalformed', { values: { problem: 'the From field must hold one address' } })
  }
  return { email, name: '' }
}

function parsedAddress(value: string): string | undefined {
  if (value.length > LONGEST_FROM) return undefined
  const parsed = addresses.parseOneAddress({ input: value, rfc6532: true })
  return parsed && 'address' in parsed ? parsed.address : undefined
}

/** X-TEMPLATEID: the template's content takes the place of the message's own; names, subject and files stay. */
async function withTemplate(submission: Submission, raw: Buffer, controls: Controls): Promise<Submission> {
  const parsed = await parseMail(raw)
  return {
    ...submission,
    from: submission.from && { ...submission.from, name: parsed.from?.value[0]?.name ?? '' },
    replyTo: parsed.replyTo?.value[0]?.address,
    content: { kind: 'parts', html: parsed.html || parsed.text || '', text: undefined, amp: undefined },
    attachments: parsed.attachments.map(({ filename, content }) => ({ fileName: filename ?? 'attachment', content })),
    envelopes: submission.envelopes.flatMap((envelope) =>
      envelope.to.map((recipient, at) => ({
        ...envelope,
        to: [recipient],
        bcc: at === 0 ? controls.bcc : [],
      })),
    ),
  }
}

const NAMES: Partial<Record<SubmissionField, string>> = {
  fromEmail: 'From',
  fromName: 'From',
  subject: 'Subject',
  replyTo: 'Reply-To',
  tags: 'X-TAGS',
  recipient: 'RCPT TO',
  bcc: 'X-SETTINGS.bcc',
  reference: 'X-APIHEADER',
  attributes: 'X-ATTRIBUTES',
  ...{
    names: 'X-SMTPAPI.to',
    substitutions: 'X-SMTPAPI.sub',
    sections: 'X-SMTPAPI.section',
    customArgs: 'X-SMTPAPI.unique_args',
  },
  ...{ batch: 'X-SMTPAPI.batch_id', scheduledAt: 'X-SMTPAPI.send_at', template: 'X-SMTPAPI.filters.templates' },
  ...{ bypass: 'X-SMTPAPI.filters.bypass', footer: 'X-SMTPAPI.filters.footer' },
  ...{ linkParameters: 'X-SMTPAPI.filters.ganalytics', groups: 'X-SMTPAPI.asm_groups_to_display' },
  ...{ openTracking: 'X-SMTPAPI.filters.opentrack', unsubscribe: 'X-SMTPAPI.filters.subscriptiontrack' },
  idempotencyKey: 'Idempotency-Key',
}

function nameOf(field: SubmissionField, _envelope?: number, key?: string): string {
  const name = NAMES[field] ?? field
  return key === undefined ? name : `${name}.${key}`
}
