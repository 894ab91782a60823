import { footerOf } from '../../composition/added-content.ts'
import {
  type Attributes,
  countMergeTags,
  hasMergeTags,
  type MergeTags,
  mergedLength,
  renderMergeTags,
  withDefaults,
} from '../../composition/merge.ts'
import { type StoredContent, subjectOf, textOf } from '../../composition/stored-content.ts'
import { checkFile } from '../../content/files/file.ts'
import { parseAddress } from '../../mime/address.ts'
import { inTurns, type Stoppable } from '../../platform/concurrency/turns.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { isFieldName, isMessageId, isReservedField, isStrict, valueProblem } from '../../submission/header-rules.ts'
import { JSON_LIMIT, jsonLength, MEASURED_FROM } from '../../submission/json-length.ts'
import { LIMITS } from '../../submission/limits.ts'
import type { Submission, SubmittedAttachment, SubmittedEnvelope } from '../../submission/submission.ts'
import { isShared, visibleLength } from '../../submission/visible-length.ts'
import { keptLength } from './recipient-rules.ts'

/**
 * Values must not inject header fields: a CR, LF or NUL in a header, address, name or file name is reported as an error, never
 * silently removed (V20). So is text that is not valid Unicode (lone surrogates), because it would be returned altered.
 */
const BREAKS = /[\r\n\0]/

/** Checks the fields of a submission that every entry point has. Throws parameterInvalid. */
export function checkFields(submission: Submission): void {
  const { nameOf, from, subject, replyTo, content, tags, attachments, envelopes, idempotencyKey } = submission
  line(from?.email, nameOf('fromEmail'))
  line(from?.name, nameOf('fromName'), LIMITS.headerText)
  line(subject, nameOf('subject'), LIMITS.headerText)
  line(replyTo, nameOf('replyTo'))
  if (replyTo && !parseAddress(replyTo)) throw invalidParameter(nameOf('replyTo'), 'is not a valid email address')
  if (content.kind === 'parts') {
    text(content.html, nameOf('content'))
    text(content.text, nameOf('content'))
    text(content.amp, nameOf('amp'))
    checkHeaders(content.headers ?? {}, submission, undefined)
  }
  if (tags.length > LIMITS.tags) throw invalidParameter(nameOf('tags'), `must have at most ${LIMITS.tags} entries`)
  for (const tag of tags) line(tag, nameOf('tags'), LIMITS.tag)
  requireIdempotencyKey(idempotencyKey, nameOf('idempotencyKey'))
  checkFileCount(submission)
  checkAttachments(attachments, submission, undefined)
  for (const [at, envelope] of envelopes.entries()) checkEnvelope(envelope, at, submission)
}

function checkEnvelope(envelope: SubmittedEnvelope, at: number, submission: Submission): void {
  const { nameOf } = submission
  for (const address of envelope.to) line(address, nameOf('recipient', at))
  for (const address of envelope.cc) line(address, nameOf('cc', at))
  for (const address of envelope.bcc) line(address, nameOf('bcc', at))
  line(envelope.reference, nameOf('reference', at), LIMITS.reference)
  line(envelope.referenceCc, nameOf('referenceCc', at), LIMITS.reference)
  for (const [key, value] of Object.entries(envelope.attributes)) {
    stored(key, nameOf('attributes', at))
    stored(value, nameOf('attributes', at, key))
  }
  const { messageId } = envelope
  if (messageId !== undefined && !isMessageId(messageId)) {
    throw invalidParameter(nameOf('messageId', at), 'must be a message id in angle brackets')
  }
  checkHeaders(envelope.headers, submission, at)
  checkAttachments(envelope.attachments, submission, at)
}

function checkHeaders(given: Readonly<Record<string, string>>, { nameOf }: Submission, at: number | undefined): void {
  const headers = Object.entries(given)
  if (headers.length > LIMITS.headers) {
    throw invalidParameter(nameOf('headers', at), `must have at most ${LIMITS.headers} headers`)
  }
  for (const [key, value] of headers) {
    if (!isFieldName(key)) throw invalidParameter(nameOf('headers', at), 'contains an invalid header name')
    if (isReservedField(key)) throw invalidParameter(nameOf('headers', at, key), 'header is reserved')
    line(value, nameOf('headers', at, key), LIMITS.headerText)
    const problem = valueProblem(key, value)
    if (problem !== undefined) throw invalidParameter(nameOf('headers', at, key), problem)
  }
}

/** Every file is a row and a MIME part: half a million files of one byte would block all other calls for seconds. */
function checkFileCount({ attachments, attachmentIds, envelopes, nameOf }: Submission): void {
  let files = attachments.length + attachmentIds.length
  const check = (parameter: () => string): void => {
    if (files <= LIMITS.attachments) return
    throw invalidParameter(parameter(), `must have at most ${LIMITS.attachments} files per call`)
  }
  check(() => nameOf('attachments'))
  for (const [at, envelope] of envelopes.entries()) {
    files += envelope.attachments.length
    check(() => nameOf('attachments', at))
  }
}

function checkAttachments(
  attachments: readonly SubmittedAttachment[],
  { nameOf }: Submission,
  at: number | undefined,
): void {
  for (const [file, attachment] of attachments.entries()) {
    checkFile(attachment, {
      fileName: nameOf('attachments', at, undefined, file),
      content: nameOf('attachmentContent', at, undefined, file),
    })
  }
}

/** Checks that values merged into headers do not contain line ends, which are allowed in content. Throws parameterInvalid. */
export function checkMergedHeaders(submission: Submission, stored: StoredContent | undefined): void | Promise<void> {
  return submission.content.kind === 'mime' ? undefined : inTurns(mergedHeadersChecked(submission, stored))
}

function* mergedHeadersChecked(submission: Submission, stored: StoredContent | undefined): Stoppable<void> {
  const { from, envelopes, nameOf, content } = submission
  const fields = content.kind === 'mime' ? {} : (content.headers ?? {})
  const shared = yield* counted([subjectOf(submission, stored), from?.name ?? '', ...Object.values(fields)])
  const strict = strictIn(fields)
  for (const [at, { attributes: given, headers }] of envelopes.entries()) {
    const own = yield* counted(Object.values(headers))
    if (shared.length + own.length === 0) continue
    const attributes = withDefaults(given, stored?.defaults)
    for (const { text, counts } of [...shared, ...own]) {
      if (text.length + mergedLength(counts, attributes) > LIMITS.headerText) {
        throw invalidParameter(
          nameOf('attributes', at),
          `header must have at most ${LIMITS.headerText} characters after merge tags are filled in`,
        )
      }
      const merged = renderMergeTags(text, attributes)
      if (BREAKS.test(merged)) {
        throw invalidParameter(nameOf('attributes', at), 'value used in a header must not contain CR, LF or NUL')
      }
      const name = strict.get(text) ?? strictIn(headers).get(text)
      const problem = name === undefined ? undefined : valueProblem(name, merged)
      if (problem !== undefined) throw invalidParameter(nameOf('attributes', at), `value used in ${name} ${problem}`)
    }
    yield
  }
}

/** Returns the values of the fields that cannot have any text, with their names. */
function strictIn(fields: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(fields).flatMap(([name, value]) => (isStrict(name) ? [[value, name]] : [])))
}

/** Returns the texts that contain merge tags, with their tags. */
function* counted(texts: readonly string[], parameter?: string): Stoppable<{ text: string; counts: MergeTags }[]> {
  const found: { text: string; counts: MergeTags }[] = []
  for (const text of texts) if (hasMergeTags(text)) found.push({ text, counts: yield* countMergeTags(text, parameter) })
  return found
}

/** Checks that the content, after merging any recipient's values, does not exceed the message size limit. */
export function checkMergedContent(submission: Submission, stored: StoredContent | undefined): void | Promise<void> {
  const { content } = submission
  const template = stored && [
    stored.content,
    content.kind === 'parts' ? textOf(content, stored) : (stored.text ?? undefined),
  ]
  const footer = footerOf(submission)
  if (content.kind === 'mime' && template === undefined && !footer) return
  const { html, text, amp } = content.kind === 'parts' ? content : {}
  const own = submission.literal ? [] : template === undefined ? [html, text, amp] : [...template, amp]
  const texts = [...own, footer?.html, footer?.text].filter((text) => text !== undefined)
  return inTurns(mergedContentChecked(submission, texts, stored?.defaults ?? {}))
}

function* mergedContentChecked(
  { envelopes, nameOf }: Submission,
  texts: readonly string[],
  defaults: Attributes,
): Stoppable<void> {
  const tagged = yield* counted(texts, nameOf('content'))
  if (tagged.length === 0) return
  const all = (attributes: Attributes): number =>
    tagged.reduce((sum, { counts }) => sum + mergedLength(counts, attributes), 0)
  const plain = texts.reduce((sum, { length }) => sum + length, all(defaults))
  for (const [at, { attributes }] of envelopes.entries()) {
    if (plain + all(attributes) > LIMITS.messageSize) {
      throw invalidParameter(nameOf('attributes', at), 'content exceeds 30 MB after merge tags are filled in')
    }
    yield
  }
}

/**
 * Checks the size of the data stored for all copies. Each copy is stored with the values of its envelope, and with its addresses if they are few
 * (visible-length.ts).
 */
export function checkCopies(submission: Submission): void {
  const { content, templateId } = submission
  if (content.kind === 'mime' && templateId === undefined) return
  const characters = checkStored(submission, ({ length }) => length, LIMITS.messageSize)
  if (characters > MEASURED_FROM) checkStored(submission, jsonLength, JSON_LIMIT)
}

/**
 * Characters of the To and Cc of one envelope: each of its copies has them in its header. No list that was accepted before they were stored once was longer.
 */
const MAX_VISIBLE = 512 * 1024

/** Returns the size of the data, measured text by text. Throws parameterInvalid above the limit. */
function checkStored({ envelopes, nameOf }: Submission, measure: (text: string) => number, limit: number): number {
  let stored = 0
  for (const [at, envelope] of envelopes.entries()) {
    const { to, cc, bcc, attributes, headers, subject = '' } = envelope
    const copies = to.length + cc.length + bcc.length
    if (copies === 1) continue
    const copied = cc.length > bcc.length ? 'cc' : 'bcc'
    const longest = to.length > Math.max(cc.length, bcc.length) ? 'recipient' : copied
    const visible = visibleLength(envelope, measure)
    if (visibleLength(envelope) > MAX_VISIBLE)
      throw invalidParameter(nameOf(longest, at), 'addresses and names that recipients see must have at most 512 kB')
    const values = [...Object.entries(attributes), ...Object.entries(headers), subject].flat()
    const own = values.reduce((sum, text) => sum + measure(text), keptLength(envelope))
    stored += copies * own + (isShared(envelope) ? visible : copies * visible)
    if (stored > limit)
      throw invalidParameter(nameOf(longest, at), 'data stored for all recipients exceeds the message size limit')
  }
  return stored
}

/** Checks an idempotency key. */
export function requireIdempotencyKey(
  key: string | undefined,
  parameter: string,
  most: number = LIMITS.idempotencyKey,
): void {
  if (key !== undefined && !isIdempotencyKey(key, most))
    throw invalidParameter(parameter, `must have 1 to ${most} printable ASCII characters`)
}

/** Printable ASCII, which header fields transmit unchanged. */
export function isIdempotencyKey(key: string, most: number = LIMITS.idempotencyKey): boolean {
  return /^[\x20-\x7e]+$/.test(key) && key.length <= most
}

function line(value: string | undefined, parameter: string, most = 512): void {
  if (value === undefined || value === '') return
  if (BREAKS.test(value)) throw invalidParameter(parameter, 'must not contain CR, LF or NUL')
  if (value.length > most) throw invalidParameter(parameter, `must have at most ${most} characters`)
  text(value, parameter)
}

function text(value: string | undefined, parameter: string): void {
  if (value !== undefined && !value.isWellFormed()) throw invalidParameter(parameter, 'is not well-formed Unicode')
}

/** Checks a value stored as text: the database accepts all characters except NUL. */
function stored(value: string, parameter: string): void {
  if (value.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
  text(value, parameter)
}
