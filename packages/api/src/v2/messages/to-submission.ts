import { createHash } from 'node:crypto'
import {
  invalidParameter,
  LIMITS,
  type MessageSettings,
  metadataOf,
  type Principal,
  parseAddress,
  readDeadline,
  ServiceError,
  type Submission,
  type SubmittedAttachment,
  type SubmittedEnvelope,
} from '@postrider/core'
import type { FilePart } from '../body/bodies.ts'
import { writtenPlace } from '../body/null-elements.ts'
import { decodeContent } from '../body/url-decoding.ts'
import { type Mailbox, parseMailbox, splitMailboxes } from './mailboxes.ts'
import { namesOf } from './parameter-names.ts'
import type { Attachment, Personalization, SendEmail } from './send-email-schema.ts'
import { ownDataOf, valuesOf } from './values.ts'

export interface SendEmailCall {
  readonly body: SendEmail
  readonly files: readonly FilePart[]
  readonly principal: Principal
  readonly clientAddress: string
  readonly idempotencyKey: string | undefined
}

/** Converts a v2 call to a Submission. Throws parameterMissing and parameterInvalid for errors specific to this format. */
export function toSubmission({ body, files, principal, clientAddress, idempotencyKey }: SendEmailCall): Submission {
  const settings = Array.isArray(body.settings) ? {} : (body.settings ?? {})
  const everyBcc = mailboxesIn(settings.bcc).map(({ address }) => address)
  const personalizations = body.personalizations ?? []
  // Each personalization gets all bcc addresses, so the total is checked before anything is made of them.
  if (Math.max(everyBcc.length, 1) * personalizations.length > LIMITS.recipients) throw tooManyRecipients()
  const nameOf = namesOf(body)
  const ofAll = metadataOf(valuesOf(body.metadata), 'metadata')
  const envelopes = personalizations.map((element, at) => ({
    ...toEnvelope(element, nameOf('attachments', at), everyBcc),
    ...ownDataOf(ofAll, element, nameOf('customArgs', at)),
  }))
  requireRecipients(envelopes, nameOf)
  return {
    door: 'v2',
    principal,
    clientAddress,
    from: body.from ? { email: body.from.fromEmail ?? '', name: body.from.fromName ?? '' } : undefined,
    subject: body.subject ?? undefined,
    replyTo: withoutBlanks(body.replyToId ?? '') || undefined,
    content: {
      kind: 'parts',
      html: body.content == null ? undefined : decodeContent(body.content),
      text: body.textcontent ? decodeContent(body.textcontent) : undefined,
      amp: body.ampcontent ? decodeContent(body.ampcontent) : undefined,
    },
    templateId: templateIdOf(body.templateId),
    attachmentIds: [body.attachmentId, body.attachmentid, settings.attachmentid].flatMap(idsOf),
    attachments: [...toAttachments(body.attachments, 'attachments'), ...files.map(fromFile)],
    envelopes,
    tags: tagsOf(body.tags),
    settings: settingsOf(settings),
    scheduledAt: scheduleOf(body.schedule),
    idempotencyKey,
    fingerprint: idempotencyKey === undefined ? undefined : fingerprint(body, files),
    nameOf,
  }
}

/** A personalization without recipient among others is an error; if none has one, error 114 reports it. */
function requireRecipients(envelopes: readonly SubmittedEnvelope[], nameOf: Submission['nameOf']): void {
  const blank = envelopes.findIndex(({ to }) => to.length === 0)
  if (blank === -1 || envelopes.every(({ to }) => to.length === 0)) return
  throw new ServiceError('parameterMissing', { values: { parameter: nameOf('recipient', blank) } })
}

function toEnvelope(element: Personalization, files: string, everyBcc: readonly string[]): SubmittedEnvelope {
  const to = element.recipient?.trim() ? [parseMailbox(element.recipient)] : []
  const cc = mailboxesIn(element.recipient_cc)
  const names = new Map(
    [...cc, ...to].flatMap(({ address, name }): [string, string][] => (name === '' ? [] : [[address, name]])),
  )
  return {
    to: to.map(({ address }) => address),
    cc: cc.map(({ address }) => address),
    bcc: [...mailboxesIn(element.recipient_bcc).map(({ address }) => address), ...everyBcc],
    ...(names.size > 0 ? { names } : {}),
    reference: textOf(element['x-apiheader']),
    referenceCc: textOf(element['x-apiheader_cc']),
    attributes: valuesOf(element.attributes),
    headers: valuesOf(element['x-headers']),
    attachments: toAttachments(element.attachments, files),
  }
}

/** Real clients also send a string, with one address or several separated by commas. */
export function mailboxesIn(addresses: string | string[] | null | undefined): Mailbox[] {
  if (addresses == null) return []
  const list =
    typeof addresses === 'string'
      ? parseAddress(addresses)
        ? [addresses]
        : splitMailboxes(addresses, LIMITS.recipients)
      : addresses
  if (list.length > LIMITS.recipients) throw tooManyRecipients()
  return list.filter((address) => address.trim() !== '').map(parseMailbox)
}

/** Splits at commas, but into no more than `most` + 1 entries: 30 MB of commas would become millions of strings. */
function splitAt(text: string, most: number): string[] {
  return text.split(',', most + 1)
}

function tooManyRecipients(): ServiceError {
  return new ServiceError('recipientsTooMany', { values: { limit: LIMITS.recipients } })
}

function textOf(value: string | number | null | undefined): string | undefined {
  return value == null || value === '' ? undefined : String(value)
}

function toAttachments(attachments: readonly Attachment[] | null | undefined, name: string): SubmittedAttachment[] {
  return (attachments ?? []).map(({ fileName, fileContent, contentId }, at) => {
    const place = `${name}[${writtenPlace(attachments, at)}]`
    if (!fileName) throw new ServiceError('parameterMissing', { values: { parameter: `${place}.fileName` } })
    if (!fileContent) throw new ServiceError('parameterMissing', { values: { parameter: `${place}.fileContent` } })
    const content = fromBase64(fileContent)
    if (!content) throw invalidParameter(`${place}.fileContent`, 'must be base64')
    return { fileName, content, ...(contentId ? { contentId, disposition: 'inline' } : {}) }
  })
}

/** Decodes base64 in either alphabet (RFC 4648 4 and 5), with or without white space, padding and surrounding quotes. */
export function fromBase64(given: string): Buffer | undefined {
  const text = unquoted(given)
  if (!/^[\w+/=\t\n\v\f\r -]*$/.test(text)) return undefined
  const bare = withoutWhiteSpace(text)
  const [digits] = /^[A-Za-z0-9+/_-]*(?=={0,2}$)/.exec(bare) ?? []
  // A single left-over digit is six bits: the file is truncated.
  return digits === undefined || digits.length % 4 === 1 ? undefined : Buffer.from(digits, 'base64')
}

/** The official samples for PHP, Python and Ruby include the quotes of a string literal. */
function unquoted(text: string): string {
  const bare = text.trim()
  return bare.length > 1 && bare.startsWith('"') && bare.endsWith('"') ? bare.slice(1, -1) : text
}

/** Byte by byte: removing every second character of 28 MB with a regular expression took a second and 300 MB. For ASCII text. */
function withoutWhiteSpace(text: string): string {
  if (!/\s/.test(text)) return text
  const octets = Buffer.from(text, 'latin1')
  let kept = 0
  for (const octet of octets) if (octet > 0x20) octets[kept++] = octet
  return octets.toString('latin1', 0, kept)
}

function fromFile({ fileName, octets }: FilePart): SubmittedAttachment {
  return { fileName, content: octets }
}

/** Clients send 0, "" or null if there is no template. */
function templateIdOf(id: string | number | null | undefined): number | undefined {
  if (id == null || id === 0 || String(id).trim() === '' || String(id).trim() === '0') return undefined
  const number = Number(id)
  return Number.isSafeInteger(number) ? number : -1
}

function idsOf(ids: string | number | readonly (string | number)[] | null | undefined): string[] {
  if (ids == null) return []
  const list = typeof ids === 'object' ? ids.map(String) : splitAt(String(ids), LIMITS.attachments)
  if (list.length > LIMITS.attachments) {
    throw invalidParameter('attachmentId', `must have at most ${LIMITS.attachments} files per call`)
  }
  return list.map((id) => id.trim()).filter((id) => id !== '' && id !== '0')
}

/** Limit before duplicate and blank tags are removed. */
const MAX_RAW_TAGS = 20 * LIMITS.tags

function tagsOf(tags: string | readonly string[] | null | undefined): string[] {
  const list = typeof tags === 'string' ? splitAt(tags, MAX_RAW_TAGS) : (tags ?? [])
  if (list.length > MAX_RAW_TAGS) throw invalidParameter('tags', `must have at most ${LIMITS.tags} entries`)
  return [...new Set(list.map(withoutBlanks).filter((tag) => tag !== ''))]
}

/** Spaces around a text are ignored; a line break stays, so that the rules reject it. */
function withoutBlanks(text: string): string {
  return /[\r\n]/.test(text) ? text : text.trim()
}

function settingsOf(settings: Exclude<SendEmail['settings'], null | undefined | readonly unknown[]>): MessageSettings {
  const flags = {
    footer: parseFlag(settings.footer),
    clickTracking: parseFlag(settings.clicktrack),
    openTracking: parseFlag(settings.opentrack),
    unsubscribe: parseFlag(settings.unsubscribe),
    group: groupOf(settings.group),
    class: textOf(settings.class),
    deadline: readDeadline(settings.deadline),
    tls: textOf(settings.tls),
    keepContent: parseFlag(settings.keepContent),
  }
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
}

function groupOf(group: number | string | null | undefined): number | undefined {
  if (group == null || group === '') return undefined
  const number = /^\d{1,10}$/.test(String(group)) ? Number(group) : 0
  if (number < 1 || number > 2_147_483_647)
    throw invalidParameter('settings.group', 'must be the id of an unsubscribe group')
  return number
}

export function parseFlag(flag: boolean | number | string | null | undefined): boolean | undefined {
  if (flag == null || flag === '') return undefined
  return flag === true || flag === 1 || flag === '1' || flag === 'true'
}

function scheduleOf(schedule: string | number | null | undefined): Date | undefined {
  if (schedule == null || schedule === '') return undefined
  // Digits are Unix seconds; anything else must be ISO 8601, or the rules reject the invalid date.
  return /^\d{1,12}$/.test(String(schedule)) ? new Date(Number(schedule) * 1000) : new Date(isoOrNaN(String(schedule)))
}

/** A time without a zone is UTC, since a client cannot know the time zone of the host. */
function isoOrNaN(text: string): string | number {
  const [, date, time, zone] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text) ?? []
  // 31 February would silently become 3 March.
  if (date === undefined || new Date(`${date}T00:00Z`).getUTCDate() !== Number(date.slice(8))) return Number.NaN
  return `${date}T${time ?? '00:00'}${zone ?? 'Z'}`
}

function fingerprint(body: SendEmail, files: readonly FilePart[]): Buffer {
  const hash = createHash('sha256').update('v2').update(JSON.stringify(body))
  for (const { fileName, octets } of files)
    hash.update(`${fileName.length}:${fileName}:${octets.length}:`).update(octets)
  return hash.digest()
}
