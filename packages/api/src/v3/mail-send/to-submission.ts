import { createHash } from 'node:crypto'
import {
  type ContentParts,
  defined,
  essenceOf,
  invalidParameter,
  LIMITS,
  type MessageSettings,
  type Principal,
  type Submission,
  type SubmittedAttachment,
  type SubmittedEnvelope,
  type SubmittedMailbox,
} from '@postrider/core'
import { refuse } from '../refusal.ts'
import { isGiven, isNamed, type RawMail, type RawMailbox, type RawPersonalization } from './body.ts'
import { namesOf } from './names.ts'
import { headerSettingsOf, SETTING_HEADERS } from './own-headers.ts'
import { withoutQuotes } from './quoted-name.ts'
import { settingsOf } from './to-settings.ts'

export interface MailCall {
  /** The message after validation. */
  readonly mail: RawMail
  /** From its headers. */
  readonly fields: Pick<ContentParts, 'date' | 'sender'>
  readonly principal: Principal
  readonly clientAddress: string
  readonly idempotencyKey: string | undefined
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Converts a valid message to a Submission (merge rules: contract 2.6). Throws V3Refusal for an attachment that is too large. */
export function toSubmission({ mail, fields, principal, clientAddress, idempotencyKey, now }: MailCall): Submission {
  const personalizations = mail.personalizations ?? []
  requireFewHeaders(mail)
  requireSharedSmall(mail)
  // Values that all personalizations share are stored once, with the message.
  const subject = shared(personalizations, (one) => textOf(one.subject) ?? textOf(mail.subject))
  const from = shared(personalizations, (one) => mailboxOf(one.from) ?? mailboxOf(mail.from))
  const scheduledAt = shared(personalizations, (one) => timeOf(one.send_at ?? mail.send_at, now))
  const own = { subject: subject.own, from: from.own, scheduledAt: scheduledAt.own }
  return {
    door: 'v3',
    principal,
    clientAddress,
    from: from.shared,
    subject: subject.shared,
    ...replyToOf(mail),
    content: { ...contentOf(mail), ...fields },
    literal: true,
    templateId: undefined,
    ...(isGiven(mail.template_id) ? { templateKey: String(mail.template_id) } : {}),
    ...(isGiven(mail.sections) ? { sections: mail.sections as Record<string, string> } : {}),
    ...(isGiven(mail.batch_id) ? { batchId: String(mail.batch_id) } : {}),
    attachmentIds: [],
    attachments: (mail.attachments ?? []).map(toAttachment),
    envelopes: personalizations.map((one) => toEnvelope(one, mail, own)),
    tags: (mail.categories ?? []) as string[],
    settings: { ...settingsOf(mail), ...headerSettingsOf(mail), ...poolOf(mail) },
    scheduledAt: earliest(personalizations.map((one) => timeOf(one.send_at ?? mail.send_at, now))),
    idempotencyKey,
    fingerprint:
      idempotencyKey === undefined ? undefined : fingerprintOf(isFilled(fields) ? { ...mail, fields } : mail),
    nameOf: namesOf(mail),
  }
}

function poolOf({ ip_pool_name: pool }: RawMail): MessageSettings {
  return isGiven(pool) && pool !== '' ? { pool: String(pool) } : {}
}

/** Headers that are not copied to the message as they are. */
const OWN_HEADERS: readonly string[] = ['message-id', 'x-smtpapi', ...SETTING_HEADERS]

/** Checked before the headers are copied to every personalization. Throws parameterInvalid. */
function requireFewHeaders({ headers }: RawMail): void {
  const names = Object.keys(headers ?? {}).slice(0, LIMITS.headers + OWN_HEADERS.length + 1)
  if (names.filter((name) => !OWN_HEADERS.includes(name.toLowerCase())).length > LIMITS.headers) {
    throw invalidParameter('personalizations.0.headers', `must have at most ${LIMITS.headers} headers`)
  }
}

/** Headers and arguments of the message are stored with each recipient: a call of 300 kB could make 200 MB. Throws V3Refusal. */
function requireSharedSmall({ headers, custom_args: args, personalizations }: RawMail): void {
  const count = personalizations?.length ?? 0
  for (const [field, map] of [
    ['headers', headers],
    ['custom_args', args],
  ] as const) {
    const each = Object.entries(map ?? {})
      .flat()
      .reduce((sum: number, text) => sum + String(text).length, 0)
    if (each * count > LIMITS.messageSize) {
      throw refuse(
        400,
        `The ${field} are too large for ${count} personalizations. Shorten them or split the call.`,
        field,
      )
    }
  }
}

/**
 * Returns the value that all personalizations share, if they do; otherwise `own` returns each one's value. A personalization
 * without a value does not inherit the others' value.
 */
function shared<T>(
  personalizations: readonly RawPersonalization[],
  of: (one: RawPersonalization) => T,
): { shared: T; own: (one: RawPersonalization) => T | undefined } {
  const [first, ...others] = personalizations.map(of)
  const same = others.every((one) => JSON.stringify(one) === JSON.stringify(first))
  const all = same || others.every((one) => one !== undefined)
  return { shared: (all ? first : undefined) as T, own: same ? () => undefined : of }
}

/** Returns undefined if one of them is to be sent immediately. */
function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.filter((time) => time !== undefined)
  const least = Math.min(...known.map((time) => time.getTime()))
  return known.length === times.length && known.length > 0 ? new Date(least) : undefined
}

function toEnvelope(
  one: RawPersonalization,
  mail: RawMail,
  own: {
    readonly subject: (one: RawPersonalization) => string | undefined
    readonly from: (one: RawPersonalization) => SubmittedMailbox | undefined
    readonly scheduledAt: (one: RawPersonalization) => Date | undefined
  },
): SubmittedEnvelope {
  const names = new Map([...(one.to ?? []), ...(one.cc ?? [])].flatMap(named))
  const [subject, from, scheduledAt] = [own.subject(one), own.from(one), own.scheduledAt(one)]
  const customArgs = isFilled(one.custom_args) ? { ...mail.custom_args, ...one.custom_args } : mail.custom_args
  const { headers, messageId } = headersOf(mail.headers, one.headers)
  return {
    to: addressesOf(one.to),
    cc: addressesOf(one.cc),
    bcc: addressesOf(one.bcc),
    reference: undefined,
    referenceCc: undefined,
    attributes: {},
    headers,
    attachments: [],
    ...defined({ messageId }),
    ...(names.size > 0 ? { names } : {}),
    ...defined({ subject, from, scheduledAt }),
    ...(isFilled(one.substitutions) ? { substitutions: one.substitutions } : {}),
    ...(isFilled(one.dynamic_template_data) ? { data: one.dynamic_template_data } : {}),
    ...(isFilled(customArgs) ? { customArgs } : {}),
  }
}

function isFilled<T extends object>(map: T | null | undefined): map is T {
  return isGiven(map) && Object.keys(map).length > 0
}

function addressesOf(mailboxes: readonly RawMailbox[] | null | undefined): string[] {
  return (mailboxes ?? []).map(({ email }) => String(email))
}

function named({ email, name }: RawMailbox): [string, string][] {
  const shown = withoutQuotes(name ?? '')
  return shown === '' ? [] : [[String(email), shown]]
}

function mailboxOf(mailbox: RawMailbox | null | undefined): SubmittedMailbox | undefined {
  return isGiven(mailbox) ? { email: String(mailbox.email), name: withoutQuotes(mailbox.name ?? '') } : undefined
}

/** A single bare address is common to all entry points; anything else is a list. */
function replyToOf({ reply_to: one, reply_to_list: list }: RawMail): Pick<Submission, 'replyTo' | 'replyToList'> {
  const mailboxes = [...(list ?? []), one].filter(isNamed).flatMap((mailbox) => mailboxOf(mailbox) ?? [])
  const [first, ...others] = mailboxes
  if (!first || (others.length === 0 && first.name === '')) return { replyTo: first?.email }
  return { replyTo: undefined, replyToList: mailboxes }
}

/** Returns the first part each of text, AMP and HTML; the other parts are further alternatives. */
function contentOf({ content }: RawMail): ContentParts {
  const known: Record<string, string> = {}
  const alternatives: { type: string; text: string }[] = []
  for (const { type, value } of content ?? []) {
    const written = String(type)
    const name = essenceOf(written)
    const isKnown = name === 'text/plain' || name === 'text/html' || name === 'text/x-amp-html'
    if (isKnown && known[name] === undefined) known[name] = String(value)
    else alternatives.push({ type: written, text: String(value) })
  }
  return {
    kind: 'parts',
    html: known['text/html'],
    text: known['text/plain'],
    amp: known['text/x-amp-html'],
    ...(alternatives.length > 0 ? { alternatives } : {}),
  }
}

function toAttachment(
  { content, filename, type, disposition, content_id: contentId }: NonNullable<RawMail['attachments']>[number],
  at: number,
): SubmittedAttachment {
  const octets = Buffer.from(String(content), 'base64')
  if (octets.length > LIMITS.attachmentSize) {
    throw refuse(413, `An attachment is limited to ${LIMITS.attachmentSize} bytes.`, `attachments.${at}.content`)
  }
  return {
    fileName: String(filename),
    content: octets,
    ...(isGiven(type) ? { type: String(type) } : {}),
    ...(disposition === 'inline' ? { disposition } : {}),
    ...(isGiven(contentId) && contentId !== '' ? { contentId: String(contentId) } : {}),
  }
}

/**
 * Returns the headers; those of the personalization win. Message-ID belongs to the message. X-SMTPAPI is an instruction to the
 * relay, and here it would be disclosed to the recipients (contract section 13). Class, deadline and TLS level are settings.
 */
function headersOf(
  shared: RawMail['headers'],
  own: RawMail['headers'],
): { headers: Record<string, string>; messageId: string | undefined } {
  const merged = new Map<string, [name: string, value: string]>()
  for (const [name, value] of [...Object.entries(shared ?? {}), ...Object.entries(own ?? {})]) {
    merged.set(name.toLowerCase(), [name, String(value)])
  }
  const messageId = merged.get('message-id')?.[1].trim()
  for (const name of OWN_HEADERS) merged.delete(name)
  return { headers: Object.fromEntries(merged.values()), messageId: messageId || undefined }
}

function textOf(text: unknown): string | undefined {
  return isGiven(text) ? String(text) : undefined
}

/** A time in the past means immediately (contract row 21). */
function timeOf(sendAt: unknown, now: number): Date | undefined {
  const at = Number(sendAt) * 1000
  return isGiven(sendAt) && at > now ? new Date(at) : undefined
}

function fingerprintOf(mail: object): Buffer {
  return createHash('sha256').update('v3').update(JSON.stringify(mail)).digest()
}
