import { isIP } from 'node:net'
import { parseAddress, parseDomain } from '../mime/address.ts'
import { edited } from '../mime/conformance/edits.ts'
import { HEADER_RULES } from '../mime/conformance/header.ts'
import { onlyMailbox } from '../mime/mailboxes.ts'
import { essenceOf } from '../mime/media-type.ts'
import { readable } from '../mime/words.ts'
import type { Stoppable } from '../platform/concurrency/turns.ts'
import { ServiceError } from '../platform/errors.ts'
import { LIMITS } from '../submission/limits.ts'
import type { Submission } from '../submission/submission.ts'
import { type Controls, isRemoved, readControls } from './control-headers.ts'
import { type Field, type SplitMessage, splitHeader, withoutFields } from './header.ts'
import { repaired } from './repair.ts'

/** Maximum characters of the subject in lists and events; the message itself keeps the whole subject. */
const SUBJECT_LENGTH = 512
/** Characters that are decoded for it: an encoded word has at most 16 per character. */
const SUBJECT_BYTES = 16 * SUBJECT_LENGTH

export interface Head extends SplitMessage {
  /** The first chunk of the message, with a corrected header if necessary. */
  readonly first: Buffer
  /** Where the body began before that. */
  readonly receivedBodyStart: number
  /** Corrections, in words. */
  readonly corrections: readonly string[]
  readonly controls: Controls
  readonly from: Submission['from']
  readonly subject: string | undefined
  /** The first chunk without the fields that are removed. */
  readonly kept: Buffer
  readonly lacksDate: boolean
  /** Undefined if it has none, or one that is longer than any that is looked for. */
  readonly messageId: string | undefined
  readonly lacksMessageId: boolean
  readonly hasAttachment: boolean
}

/**
 * Reads the header, with its corrections. Each step visits all fields; with a hundred thousand fields, a step takes 2 ms. `domain` is that of
 * addresses that have none.
 *
 * Throws messageMalformed, mailLoop, parameterInvalid.
 */
export function* readHeader(received: Buffer, domain: string | undefined): Stoppable<Head> {
  const corrected = yield* correctedHeader(received, domain)
  const { first, split, removed } = corrected
  const { fields } = split
  yield
  const controls = yield* readControls(removed)
  yield
  const from = senderOf(fields)
  yield
  const kept = yield* withoutFields(first, removed)
  yield
  const lacksDate = !fields.some(({ name }) => name === 'date')
  yield
  const ownId = fields.find(({ name }) => name === 'message-id')
  const lacksMessageId = ownId === undefined
  const messageId = shortText(ownId?.value)
  yield
  const hasAttachment = isOfFiles(fields.find(({ name }) => name === 'content-type')?.value ?? '')
  yield
  const subject = shownSubject(fields)
  yield
  return {
    ...split,
    ...corrected,
    controls,
    from,
    subject,
    kept,
    lacksDate,
    messageId,
    lacksMessageId,
    hasAttachment,
  }
}

/** RFC 5322 2.1.1: a line has at most 998 characters. Most are shorter than a hundred. */
function shortText(value: string | undefined): string | undefined {
  const text = value?.slice(0, 300).trim()
  return text === undefined || text === '' || text.length > 250 ? undefined : text.toWellFormed().replaceAll('\0', ' ')
}

/** Whether a message of this media type has attachments. */
function isOfFiles(type: string): boolean {
  const essence = essenceOf(type)
  return essence === 'multipart/mixed' || /^(?:application|audio|image|video)\//.test(essence)
}

interface CorrectedHeader extends Pick<Head, 'first' | 'receivedBodyStart' | 'corrections'> {
  readonly split: SplitMessage
  /** The fields that do not stay. */
  readonly removed: readonly Field[]
}

function* correctedHeader(received: Buffer, domain: string | undefined): Stoppable<CorrectedHeader> {
  const corrections: string[] = []
  let first = received
  let split = yield* splitHeader(first)
  const receivedBodyStart = split.bodyStart
  checkHops(split.fields)
  yield
  let removed = split.fields.filter(isRemoved)
  yield
  let kept = keptOf(split, removed)
  for (const rule of HEADER_RULES) {
    const found = rule(kept)
    yield
    if (!found) continue
    if ('problem' in found) throw new ServiceError('messageMalformed', { values: { problem: found.problem } })
    first = edited(first, found.edits)
    split = yield* splitHeader(first)
    removed = split.fields.filter(isRemoved)
    kept = keptOf(split, removed)
    corrections.push(found.corrected)
  }
  const repair = repaired(first, split.fields, domain)
  if (repair) {
    first = repair.header
    split = yield* splitHeader(first)
    removed = split.fields.filter(isRemoved)
    corrections.push(repair.corrected)
  }
  return { first, split, removed, receivedBodyStart, corrections }
}

/** Fields that are removed may be as their sender likes. */
function keptOf(split: SplitMessage, removed: readonly Field[]): SplitMessage {
  return removed.length > 0 ? { ...split, fields: split.fields.filter((field) => !isRemoved(field)) } : split
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
/** Requires one address in the only From field: it is what the recipient sees and what DKIM vouches for. */
function senderOf(fields: readonly Field[]): Submission['from'] {
  const value = fields.find(({ name }) => name === 'from')?.value
  if (value === undefined) return undefined
  const plain = PLAIN_FROM.exec(value)
  const email = plain ? (plain[1] ?? plain[2]) : onlyMailbox(value)?.email
  const problem = email ? addressProblem(email) : 'must contain exactly one address'
  if (!email || problem)
    throw new ServiceError('messageMalformed', { values: { problem: `the From field ${problem}` } })
  return { email, name: '' }
}

/** Returns why an address is not valid, after `the From field`; undefined if it is. */
function addressProblem(email: string): string | undefined {
  if (parseAddress(email)) return undefined
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1)
  const because = (why: string): string => `has an address that is not valid: ${why}`
  if (at === -1) return because('the domain is absent')
  if (domain === '') return because('the domain is empty')
  if (domain.startsWith('[') || isIP(domain) !== 0) return because('its domain is an IP address')
  if (domain.endsWith('.')) return because('its domain ends with a dot')
  if (!parseDomain(domain)) return because('its domain is not a valid name')
  return because('the part before the @ is not valid or too long')
}

function shownSubject(fields: readonly Field[]): string | undefined {
  const value = fields.find(({ name }) => name === 'subject')?.value
  if (value === undefined) return undefined
  return readable(value.slice(0, SUBJECT_BYTES)).slice(0, SUBJECT_LENGTH).toWellFormed()
}
