import { validFileName } from '../content/files/file.ts'
import { parseAddress } from '../mime/address.ts'
import { readMailboxes } from '../mime/mailboxes.ts'
import type { FoundFile, MessageParts } from '../mime/message-parts.ts'
import { readable } from '../mime/words.ts'
import {
  hasEncodedWord,
  isFieldName,
  isMessageId,
  isReservedField,
  withoutUnwritableIds,
} from '../submission/header-rules.ts'
import { LIMITS } from '../submission/limits.ts'
import type { ContentParts, Submission, SubmittedAttachment } from '../submission/submission.ts'
import type { SubmittedMailbox } from '../submission/submission-details.ts'
import { isRemoved } from './control-headers.ts'
import type { Field } from './header.ts'

/** A MIME message as parts that can be composed again for each recipient. */
export interface DecomposedMessage {
  readonly subject: string | undefined
  readonly fromName: string
  readonly replyTo: readonly SubmittedMailbox[]
  readonly content: ContentParts
  readonly attachments: readonly SubmittedAttachment[]
  readonly headers: Readonly<Record<string, string>>
  readonly messageId: string | undefined
  /** The names in To and Cc, by address in lower case. */
  readonly names: ReadonlyMap<string, string>
}

/** A whole message and the fields of its header. */
export interface WholeMessage {
  /** The bytes that the fields' offsets refer to: the header before control fields were removed. */
  readonly head: Buffer
  readonly fields: readonly Field[]
  /** Parses the parts in another thread, since it may take long. Throws messageMalformed, overloaded. */
  readonly parts: () => Promise<MessageParts>
}

/** RFC 2045 7, as it is generally read: one line of ASCII that angle brackets can enclose. */
const CONTENT_ID = /^[!-;=?-~]{1,255}$/
/** Maximum bytes of the header fields of a copy, not counting control fields. */
const MAX_HEAD_BYTES = 128 * 1024
/** Maximum bytes of a field that is decoded; encoded words for 4096 non-ASCII letters have fewer. */
const MAX_FIELD_LENGTH = 64 * 1024
/** Maximum characters of a date. */
const MAX_DATE_LENGTH = 100
const SIGNED_TEXT = '-----BEGIN PGP '

/**
 * Decomposes a message. Undefined if something would be lost: the message is signed or encrypted, contains a report or another message,
 * its structure is ambiguous, or it exceeds a limit for copies. Cheap checks come first.
 *
 * Throws messageMalformed, overloaded.
 */
export async function decomposeMime({ head, fields, parts }: WholeMessage): Promise<DecomposedMessage | undefined> {
  const own = fields.filter((field) => !isRemoved(field))
  if (own.reduce((sum, { start, end }) => sum + end - start, 0) > MAX_HEAD_BYTES) return undefined
  const headers = headersOf(head, own)
  const subject = valueIn(own, 'subject')
  if (!headers || isTooLong(subject)) return undefined
  const replyTo = parseMailboxes(own, 'reply-to')
  const fromName = parseMailboxes(own, 'from')[0]?.name ?? ''
  if ([fromName, ...replyTo.map(({ name }) => name)].some(isTooLong)) return undefined
  if (!replyTo.every(({ email }) => parseAddress(email))) return undefined
  const { whole, html, text, alternatives, files } = await parts()
  if (!whole || files.some(({ content }) => content.length > LIMITS.attachmentSize)) return undefined
  const content = contentOf({ html: stringOf(html), text: stringOf(text) }, alternatives, dateOf(own))
  if (!content) return undefined
  const messageId = valueIn(own, 'message-id')
  return {
    subject: subject === undefined ? undefined : readable(subject),
    fromName,
    replyTo,
    content,
    headers,
    attachments: files.map(toAttachment),
    messageId: messageId !== undefined && isMessageId(messageId) ? messageId : undefined,
    names: new Map(
      [...parseMailboxes(own, 'to'), ...parseMailboxes(own, 'cc')]
        .filter(({ name }) => name !== '')
        .map(({ email, name }) => [email.toLowerCase(), name]),
    ),
  }
}

/** The fields of a submission for a Reply-To: a single address without a name is composed as a bare one. */
export function replyToOf(mailboxes: readonly SubmittedMailbox[]): Pick<Submission, 'replyTo' | 'replyToList'> {
  const [first, ...others] = mailboxes
  if (!first) return { replyTo: undefined }
  return others.length === 0 && first.name === ''
    ? { replyTo: first.email }
    : { replyTo: undefined, replyToList: mailboxes }
}

function contentOf(
  { html, text }: { readonly html: string | undefined; readonly text: string | undefined },
  alternatives: MessageParts['alternatives'],
  date: Date | undefined,
): ContentParts | undefined {
  if (text?.includes(SIGNED_TEXT) || html?.includes(SIGNED_TEXT)) return undefined
  const texts = alternatives.map(({ type, text }) => ({ type, text: stringOf(text) }))
  const others = texts.filter(({ type }) => type !== AMP)
  if (others.length > LIMITS.alternatives) return undefined
  return {
    kind: 'parts',
    html,
    text: html === undefined ? (text ?? '') : text,
    amp: texts.find(({ type }) => type === AMP)?.text,
    ...(others.length > 0 ? { alternatives: others } : {}),
    ...(date ? { date } : {}),
  }
}

const AMP = 'text/x-amp-html'

export function stringOf(octets: Uint8Array): string
export function stringOf(octets: Uint8Array | undefined): string | undefined
export function stringOf(octets: Uint8Array | undefined): string | undefined {
  return octets && Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString()
}

function dateOf(fields: readonly Field[]): Date | undefined {
  const written = valueIn(fields, 'date')
  if (written === undefined || written.length > MAX_DATE_LENGTH) return undefined
  const date = new Date(written)
  return Number.isNaN(date.getTime()) ? undefined : date
}

export function toAttachment(file: FoundFile): SubmittedAttachment {
  const { fileName, content, type, inline, contentId } = file
  const isContentId = contentId !== undefined && CONTENT_ID.test(contentId) && !hasEncodedWord(contentId)
  return {
    fileName: validFileName(fileName),
    content: Buffer.from(content.buffer, content.byteOffset, content.length),
    type,
    ...(inline ? { disposition: 'inline' } : {}),
    ...(isContentId ? { contentId } : {}),
  }
}

/** The mailboxes of the last field of this name, as mail parsers read it. */
export function parseMailboxes(fields: readonly Field[], wanted: string): readonly SubmittedMailbox[] {
  const field = fields.findLast(({ name }) => name === wanted)
  return field ? readMailboxes(field.value).mailboxes : []
}

function valueIn(fields: readonly Field[], wanted: string): string | undefined {
  return fields.find(({ name }) => name === wanted)?.value
}

function isTooLong(text: string | undefined): boolean {
  return text !== undefined && (text.length > MAX_FIELD_LENGTH || readable(text).length > LIMITS.headerText)
}

/**
 * Without the reserved fields: they are composed for each copy, record the route to this service, or are signatures, which would not
 * verify. If there are several fields of one name, the first one counts. Undefined if the fields exceed the limits for header fields of a
 * copy: these limits are errors in an API call, but do not make a received message invalid.
 */
export function headersOf(head: Buffer, fields: readonly Field[]): Record<string, string> | undefined {
  const headers = new Map<string, [name: string, value: string]>()
  for (const { name, value, start } of fields) {
    if (headers.has(name) || isReservedField(name)) continue
    if (headers.size === LIMITS.headers || !isFieldName(name) || isTooLong(value)) return undefined
    // Its sender answers a mail that has such an id, and could not give another.
    const text = withoutUnwritableIds(name, readable(value))
    if (text !== '' || value === '') headers.set(name, [head.toString('latin1', start, start + name.length), text])
  }
  return Object.fromEntries(headers.values())
}
