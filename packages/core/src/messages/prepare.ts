import { randomUUIDv7 } from 'node:crypto'
import { BULK, classOf } from '../accounts/mail-class.ts'
import { type AddedContent, addedContentOf, footerOf, mergedFooter } from '../composition/added-content.ts'
import { type EncodedPart, encodePart } from '../composition/body.ts'
import { messageDate } from '../composition/compose.ts'
import type { ContentDocument } from '../composition/content.ts'
import { textDetailsOf } from '../composition/recipient-texts.ts'
import { subjectOf, textOf } from '../composition/stored-content.ts'
import type { StoredAttachment } from '../content/files/index.ts'
import { parseAddress } from '../mime/address.ts'
import { messageIdText } from '../submission/message-id.ts'
import { ownOneClick } from '../submission/one-click.ts'
import { storedNotifications } from '../submission/status-notifications.ts'
import type { ContentParts, MimeContent, Submission, SubmittedAttachment } from '../submission/submission.ts'
import { resentDeliveries, resentSettings } from './actions/prepare-resent.ts'
import { canonicalAlternative, canonicalMailbox, shownSubject } from './prepare-details.ts'
import { envelopesOf, FileParts, prepareRecipients } from './prepare-recipients.ts'
import { queueColumnsOf } from './queue-columns.ts'
import type { Facts } from './rules/rules.ts'
import type { StoredMessage } from './stored-message.ts'

/** The field Received of this service. */
export interface ReceivedField {
  /** The name of the service. */
  readonly by: string
  /** Whether it names the client, too: its host name and address. */
  readonly showsClient: boolean
}

export interface SettleOptions {
  readonly submission: Submission
  readonly found: Facts
  readonly transactionBase: bigint
  readonly receivedField: ReceivedField
  readonly now: Date
  /** The `traceparent` of the acceptance; undefined if its trace is not sampled. */
  readonly traceParent: string | undefined
}

/** Prepares a validated submission for storage: numbers and deduplicates recipients, fixes the content, encodes body parts. */
export function prepare(options: SettleOptions): StoredMessage {
  const { submission: given, found, transactionBase, receivedField, now, traceParent } = options
  const submission = found.filled?.submission ?? given
  const { content, principal, from } = submission
  const { resent } = submission
  const id = messageIdOf(now)
  const files = new FileParts()
  const attachments = [...submission.attachments, ...(found.attachments ?? []).map(asSubmitted)]
  const shared = attachments.map((attachment) => files.add(attachment))
  const deliveries = resent ? resentDeliveries(resent) : prepareRecipients(submission, found, files)
  const mime = content.kind === 'mime' && !found.template
  const trackingHost = found.domain?.trackingHost ?? null
  const added = resent ? resentSettings(resent, trackingHost) : addedContentOf(submission, trackingHost)
  // The fields are read of bulk mail only, of which large receivers demand them.
  const oneClick = resent || classOf(added.class) !== BULK ? undefined : ownOneClick(submission, mime)
  const settings: AddedContent = {
    ...added,
    ...(oneClick === undefined ? {} : { oneClick }),
    ...templateOf(submission, found),
    ...(traceParent === undefined ? {} : { traceParent }),
    ...(mime && content.hasAttachment ? { attachments: true as const } : {}),
    ...(mime && !resent && content.messageId !== undefined ? { messageId: content.messageId } : {}),
    ...(mime && content.corrected !== undefined ? { corrected: content.corrected } : {}),
    ...(submission.notifications ? { notifications: storedNotifications(submission.notifications) } : {}),
  }
  const first = mime
    ? resent?.format === 'content'
      ? content.pieces
      : traced(content, id, submission, receivedField, now)
    : [Buffer.from(JSON.stringify(contentDocument(submission, found, shared, files)))]
  const footer = mime && !resent ? mergedFooter(submission, settings) : undefined
  // A MIME message contains its files, so part 1 is free for the footer.
  if (footer) files.contents.push(Buffer.from(JSON.stringify(footer)))
  if (resent) files.contents.push(...resent.files)
  const parts = [
    encodePart(first),
    ...files.contents.map((content): EncodedPart => ({ encoding: 'raw', pieces: [content], length: content.length })),
  ]

  return {
    id,
    accountId: principal.account.id,
    parentId: principal.account.parentId,
    domainId: found.domain?.id as number,
    apiKeyId: principal.keyId,
    door: submission.door,
    scheduledAt: submission.scheduledAt,
    fromAddress: parseAddress(from?.email ?? '')?.text ?? '',
    subject: resent ? resent.subject : shownSubject(submission, found.template),
    tags: submission.tags,
    settings,
    class: queueColumnsOf(settings).class,
    clientAddress: submission.clientAddress,
    format: resent?.format ?? (mime ? 'mime' : 'content'),
    size: [...first, ...files.contents].reduce((sum, piece) => sum + piece.length, 0),
    nullReturnPath: content.nullReturnPath === true,
    transactionBase,
    idempotencyKey: submission.idempotencyKey,
    fingerprint: submission.fingerprint,
    batchId: submission.batchId,
    refusal: submission.dropped ?? found.refusal,
    refusalProblem: submission.droppedProblem ?? found.refusalProblem,
    parts,
    deliveries,
  }
}

function templateOf({ templateKey }: Submission, { templateName: name }: Facts): Pick<AddedContent, 'template'> {
  if (templateKey === undefined) return {}
  return { template: { id: templateKey.toLowerCase(), ...(name === undefined ? {} : { name }) } }
}

/** Returns a UUIDv7 (RFC 9562 5.7) whose first 48 bits are `now` in milliseconds rather than the host's time. */
function messageIdOf(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`
}

function asSubmitted({ fileName, content }: StoredAttachment): SubmittedAttachment {
  return { fileName, content }
}

function contentDocument(
  submission: Submission,
  { template, filled }: Facts,
  shared: readonly number[],
  files: FileParts,
): ContentDocument {
  const { from, replyTo, replyToList, content } = submission
  const texts =
    content.kind === 'parts'
      ? content
      : ({ kind: 'parts', html: undefined, text: undefined, amp: undefined } as ContentParts)
  const html = template ? template.content : texts.html
  const text = template ? textOf(texts, template) : texts.text
  const footer = footerOf(submission)
  return {
    from: { email: parseAddress(from?.email ?? '')?.text ?? '', name: from?.name.trim() ?? '' },
    subject: subjectOf(submission, template),
    ...(texts.headers && Object.keys(texts.headers).length > 0 ? { headers: texts.headers } : {}),
    ...(texts.date ? { date: texts.date.toISOString() } : {}),
    ...(texts.sender ? { sender: canonicalMailbox(texts.sender) } : {}),
    ...(template?.defaults ? { defaults: template.defaults } : {}),
    ...(replyTo ? { replyTo: parseAddress(replyTo)?.text ?? replyTo } : {}),
    ...(replyToList ? { replyToList: replyToList.map(canonicalMailbox) } : {}),
    ...(html === undefined ? {} : { html }),
    ...(text === undefined ? {} : { text }),
    ...(texts.amp ? { amp: texts.amp } : {}),
    ...(texts.alternatives ? { alternatives: texts.alternatives.map(canonicalAlternative) } : {}),
    ...(submission.literal ? { literal: true } : {}),
    ...textDetailsOf(submission, { html, text }, filled?.rendered),
    ...(footer ? { footer } : {}),
    ...envelopesOf(submission),
    ...(files.contents.length > 0 ? { files: files.names } : {}),
    ...(Object.keys(files.heads).length > 0 ? { fileHeads: files.heads } : {}),
    ...(shared.length > 0 ? { attachments: shared } : {}),
  }
}

/** Returns the message preceded by the trace headers of this service (RFC 5321 4.4, RFC 6409 8). */
function traced(content: MimeContent, id: string, submission: Submission, field: ReceivedField, now: Date): Buffer[] {
  const hex = messageIdText(id)
  const { helo, address, protocol } = content.trace
  const literal = address.includes(':') ? `[IPv6:${address}]` : `[${address}]`
  const from = field.showsClient ? `from ${helo} (${literal})\r\n ` : ''
  let head = `Received: ${from}by ${field.by} with ${protocol} id ${hex};\r\n ${messageDate(now)}\r\n`
  if (content.lacksDate) head += `Date: ${messageDate(now)}\r\n`
  if (content.lacksMessageId) head += `Message-ID: <${hex}@${parseAddress(submission.from?.email ?? '')?.domain}>\r\n`
  return [Buffer.from(head), ...content.pieces]
}
