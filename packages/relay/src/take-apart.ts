import {
  type ContentParts,
  type FoundFile,
  LIMITS,
  type MessageParts,
  parseAddress,
  readable,
  type SubmittedAttachment,
  type SubmittedMailbox,
} from '@postrider/core'
import { isRemoved } from './control-headers.ts'
import type { Field } from './header.ts'
import { readMailboxes } from './mailboxes.ts'

/** A MIME message as content that can be put together anew for each recipient. */
export interface Apart {
  readonly subject: string | undefined
  readonly fromName: string
  readonly replyTo: readonly SubmittedMailbox[]
  readonly content: ContentParts
  readonly attachments: readonly SubmittedAttachment[]
  readonly headers: Readonly<Record<string, string>>
  readonly messageId: string | undefined
  /** Names that To and Cc show, by address in lower case. */
  readonly names: ReadonlyMap<string, string>
}

/** A whole message and the fields of its header. */
export interface WholeMessage {
  /** What the fields stand in: octets of the header, before control fields were taken out. */
  readonly head: Buffer
  readonly fields: readonly Field[]
  /** Reads its parts, elsewhere: it may take long. Throws messageMalformed, overloaded. */
  readonly parts: () => Promise<MessageParts>
}

/** Written anew for each copy, or about the way the message has come; a signature would not hold. */
const LEFT_OUT =
  /^(from|sender|to|cc|reply-to|subject|date|message-id|received|received-spf|delivered-to|apparently-to|dkim-signature|domainkey-signature|mime-version|content-.*|resent-.*|arc-.*|authentication-results|x-sg-.*)$/
const MESSAGE_ID = /^<[!-;=?-~]{1,400}@[!-;=?-~]{1,400}>$/
/** RFC 2045 7 as everybody reads it: one line of ASCII that its brackets can hold. */
const CONTENT_ID = /^[!-;=?-~]{1,255}$/
/** Octets of a header, control fields apart, whose fields a copy may have. */
const LONGEST_HEAD = 128 * 1024
/** Octets of one field that are decoded; encoded words of 4096 letters beyond ASCII have fewer. */
const LONGEST_FIELD = 64 * 1024
/** Characters of a date; nobody writes half of it. */
const LONGEST_DATE = 100
/** Characters of the name of a field that a copy has. */
const LONGEST_NAME = 76
const SIGNED_TEXT = '-----BEGIN PGP '

/**
 * Takes a message apart. Undefined where something would be lost: it is signed or encrypted, holds a report or another message,
 * its structure can't be read beyond doubt, or it has more of anything than a copy may have. What costs little is asked first.
 *
 * Throws messageMalformed, overloaded.
 */
export async function takeApart({ head, fields, parts }: WholeMessage): Promise<Apart | undefined> {
  const own = fields.filter((field) => !isRemoved(field))
  if (own.reduce((sum, { start, end }) => sum + end - start, 0) > LONGEST_HEAD) return undefined
  const headers = headersOf(head, own)
  const subject = valueIn(own, 'subject')
  if (!headers || isTooLong(subject)) return undefined
  const replyTo = mailboxesOf(own, 'reply-to')
  const fromName = mailboxesOf(own, 'from')[0]?.name ?? ''
  if ([fromName, ...replyTo.map(({ name }) => name)].some(isTooLong)) return undefined
  if (!replyTo.every(({ email }) => parseAddress(email))) return undefined
  const { whole, html, text, alternatives, files } = await parts()
  if (!whole || files.some(({ content }) => content.length > LIMITS.attachmentSize)) return undefined
  const content = contentOf({ html: stringOf(html), text: stringOf(text) }, alternatives, dateOf(own))
  if (!content) return undefined
  const messageId = valueIn(own, 'message-id')
  return {
    ...{ subject: subject === undefined ? undefined : readable(subject), fromName, replyTo, content, headers },
    attachments: files.map(toAttachment),
    messageId: messageId !== undefined && MESSAGE_ID.test(messageId) ? messageId : undefined,
    names: new Map(
      [...mailboxesOf(own, 'to'), ...mailboxesOf(own, 'cc')]
        .filter(({ name }) => name !== '')
        .map(({ email, name }) => [email.toLowerCase(), name]),
    ),
  }
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
    ...{ kind: 'parts', html, text: html === undefined ? (text ?? '') : text },
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
  if (written === undefined || written.length > LONGEST_DATE) return undefined
  const date = new Date(written)
  return Number.isNaN(date.getTime()) ? undefined : date
}

export function toAttachment(file: FoundFile): SubmittedAttachment {
  const { content, type, inline, contentId } = file
  return {
    fileName: fileNameOf(file),
    content: Buffer.from(content.buffer, content.byteOffset, content.length),
    type,
    ...(inline ? { disposition: 'inline' } : {}),
    ...(contentId !== undefined && CONTENT_ID.test(contentId) ? { contentId } : {}),
  }
}

/** The last piece of a path, and nothing a reader might stumble over. */
export function fileNameOf({ fileName }: FoundFile): string {
  const bare = (fileName ?? '').replace(/^.*[/\\]/s, '').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
  return bare.toWellFormed().slice(-255).trim() || 'attachment'
}

/** Of the last field of that name, as parsers have it. */
export function mailboxesOf(fields: readonly Field[], wanted: string): readonly SubmittedMailbox[] {
  const field = fields.findLast(({ name }) => name === wanted)
  return field ? readMailboxes(field.value).mailboxes : []
}

function valueIn(fields: readonly Field[], wanted: string): string | undefined {
  return fields.find(({ name }) => name === wanted)?.value
}

function isTooLong(text: string | undefined): boolean {
  return text !== undefined && (text.length > LONGEST_FIELD || readable(text).length > LIMITS.headerText)
}

/**
 * Of several fields of one name the first. Undefined: there are more than the rules of sending let a copy have, which are refused
 * where they were the sender's own call, and are no reason to refuse a message.
 */
function headersOf(head: Buffer, fields: readonly Field[]): Record<string, string> | undefined {
  const headers = new Map<string, [name: string, value: string]>()
  for (const { name, value, start } of fields) {
    if (headers.has(name) || LEFT_OUT.test(name)) continue
    if (headers.size === LIMITS.headers || name.length > LONGEST_NAME || isTooLong(value)) return undefined
    headers.set(name, [head.toString('latin1', start, start + name.length), readable(value)])
  }
  return Object.fromEntries(headers.values())
}
