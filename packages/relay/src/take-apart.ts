import {
  type ContentParts,
  canTakeApart,
  LIMITS,
  parseAddress,
  ServiceError,
  type SubmittedAttachment,
  type SubmittedMailbox,
} from '@postrider/core'
import { type AddressObject, type Attachment, type EmailAddress, type ParsedMail, simpleParser } from 'mailparser'
import { isRemoved } from './control-headers.ts'
import type { Field } from './header.ts'
import { decodeWords } from './words.ts'

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
  readonly octets: () => Buffer
  /** What the fields stand in: octets of the header, before control fields were taken out. */
  readonly head: Buffer
  readonly fields: readonly Field[]
}

/** Written anew for each copy, or about the way the message has come; a signature would not hold. */
const LEFT_OUT =
  /^(from|sender|to|cc|reply-to|subject|date|message-id|received|received-spf|delivered-to|apparently-to|dkim-signature|domainkey-signature|mime-version|content-.*|resent-.*|arc-.*|authentication-results|x-sg-.*)$/
const MESSAGE_ID = /^<[!-;=?-~]{1,400}@[!-;=?-~]{1,400}>$/
/** RFC 2045 7 as everybody reads it: one line of ASCII that its brackets can hold. */
const CONTENT_ID = /^[!-;=?-~]{1,255}$/
/** Octets of a header that is read field by field, X-SMTPAPI apart: the parser takes seconds for half a megabyte of colons. */
const LONGEST_HEAD = 128 * 1024
/** Characters of the name of a field that a copy has. */
const LONGEST_NAME = 76
const SIGNED_TEXT = '-----BEGIN PGP '

/**
 * Takes a message apart. Undefined where something would be lost: it is signed or encrypted, holds a report or another message,
 * its structure can't be read beyond doubt, or it has more of anything than a copy may have. Throws messageMalformed.
 */
export async function takeApart({ octets: whole, head, fields }: WholeMessage): Promise<Apart | undefined> {
  const octets = whole()
  if (octets.indexOf('\r\n\r\n') > LONGEST_HEAD || !canTakeApart(octets)) return undefined
  const headers = headersOf(head, fields)
  const subject = subjectOf(fields)
  if (!fits(headers, subject)) return undefined
  const mail = await parseMail(octets)
  const html = mail.html || undefined
  const { text } = mail
  if (text?.includes(SIGNED_TEXT) || html?.includes(SIGNED_TEXT)) return undefined
  const files = mail.attachments.filter((file) => !isAlternative(file))
  const alternatives = mail.attachments
    .filter(isAlternative)
    .map((part) => ({ type: part.contentType, text: textOf(part) }))
  const amp = alternatives.find(({ type }) => type === 'text/x-amp-html')?.text
  const others = alternatives.filter(({ type }) => type !== 'text/x-amp-html')
  const messageId = fields.find(({ name }) => name === 'message-id')?.value
  const replyTo = mailboxesOf(mail.replyTo)
  const fromName = mail.from?.value[0]?.name ?? ''
  if ([fromName, ...replyTo.map(({ name }) => name)].some(isTooLong)) return undefined
  if (!replyTo.every(({ email }) => parseAddress(email)) || others.length > LIMITS.alternatives) return undefined
  if (files.some(({ content }) => content.length > LIMITS.attachmentSize)) return undefined
  return {
    ...{ subject, fromName, replyTo },
    content: {
      ...{ kind: 'parts', html, text: html === undefined ? (text ?? '') : text, amp },
      ...(others.length > 0 ? { alternatives: others } : {}),
      ...(mail.date && !Number.isNaN(mail.date.getTime()) ? { date: mail.date } : {}),
    },
    attachments: files.map((file) => toAttachment(file, html ?? '')),
    headers,
    messageId: messageId !== undefined && MESSAGE_ID.test(messageId) ? messageId : undefined,
    names: new Map(
      [mail.to, mail.cc]
        .flat()
        .flatMap(mailboxesOf)
        .filter(({ name }) => name !== '')
        .map(({ email, name }) => [email.toLowerCase(), name]),
    ),
  }
}

/** The parser gives up on what is no honest message: a thousand parts, parts in parts without end (V23). */
export async function parseMail(octets: Buffer): Promise<ParsedMail> {
  try {
    return await simpleParser(octets, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true })
  } catch (cause) {
    throw new ServiceError('messageMalformed', { values: { problem: 'its parts cannot be read' }, cause })
  }
}

/** A text beside plain and HTML that readers choose from, and nobody saves: an invitation, AMP. */
function isAlternative({ contentType, contentDisposition, filename, cid }: Attachment): boolean {
  return /^text\/(calendar|x-amp-html)$/.test(contentType) && !contentDisposition && !filename && !cid
}

function textOf({ content, headers }: Attachment): string {
  const written = headers.get('content-type')
  const charset = typeof written === 'object' && 'params' in written ? written.params.charset : undefined
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(content)
  } catch {
    return content.toString()
  }
}

function toAttachment(file: Attachment, html: string): SubmittedAttachment {
  const { content, contentType, contentDisposition, cid, related } = file
  const inline =
    contentDisposition === 'inline' || related === true || (cid !== undefined && html.includes(`cid:${cid}`))
  return {
    fileName: fileNameOf(file),
    content,
    ...(contentType ? { type: contentType } : {}),
    ...(inline ? { disposition: 'inline' } : {}),
    ...(cid && CONTENT_ID.test(cid) ? { contentId: cid } : {}),
  }
}

/** The last piece of a path, and nothing a reader might stumble over. */
function fileNameOf({ filename }: Attachment): string {
  const bare = (filename ?? '').replace(/^.*[/\\]/s, '').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
  return bare.toWellFormed().slice(-255).trim() || 'attachment'
}

export function mailboxesOf(list: AddressObject | undefined): SubmittedMailbox[] {
  const flat = ({ address, name, group }: EmailAddress): SubmittedMailbox[] =>
    group ? group.flatMap(flat) : address ? [{ email: address, name: name.replace(/\p{Cc}/gu, ' ').trim() }] : []
  return (list?.value ?? []).flatMap(flat)
}

function isTooLong(text: string): boolean {
  return text.length > LIMITS.headerText
}

/** More than the rules of sending let a copy have: refused where it was the sender's own call, and no reason to refuse a message. */
function fits(headers: Readonly<Record<string, string>>, subject: string | undefined): boolean {
  const fields = Object.entries(headers)
  if (fields.length > LIMITS.headers || isTooLong(subject ?? '')) return false
  return fields.every(([name, value]) => name.length <= LONGEST_NAME && !isTooLong(value))
}

/** As readers are shown it. */
export function subjectOf(fields: readonly Field[]): string | undefined {
  const value = fields.find(({ name }) => name === 'subject')?.value
  return value === undefined ? undefined : readable(value)
}

function readable(value: string): string {
  return decodeWords(value)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
}

/** Of several fields of one name the first. */
function headersOf(head: Buffer, fields: readonly Field[]): Record<string, string> {
  const headers = new Map<string, [name: string, value: string]>()
  for (const field of fields) {
    const { name, value, start } = field
    if (headers.has(name) || LEFT_OUT.test(name) || isRemoved(field)) continue
    const written = head.toString('latin1', start, start + name.length)
    headers.set(name, [written, readable(value)])
  }
  return Object.fromEntries(headers.values())
}
