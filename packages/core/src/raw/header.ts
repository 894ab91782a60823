import type { WrittenHeader } from '../mime/conformance/header.ts'
import { endOfField } from '../mime/end-of-field.ts'
import type { Stoppable } from '../platform/concurrency/turns.ts'
import { ServiceError } from '../platform/errors.ts'

/** A header field and its position in the message. */
export interface Field {
  /** Lower case. */
  readonly name: string
  /** Unfolded and trimmed; bytes above 127 are decoded as UTF-8. */
  readonly value: string
  /** Offsets in the message; `end` is after the line end. */
  readonly start: number
  readonly end: number
}

export interface SplitMessage extends WrittenHeader {
  readonly fields: readonly Field[]
  /** Offset of the body, after the empty line. */
  readonly bodyStart: number
}

/** Maximum bytes of a header. */
export const MAX_HEADER = 512 * 1024
/**
 * Maximum fields of a header. All rules visit them: 80,000 took 50 ms of the main loop, these take 6 to 14. Mail has some hundred at most, after many
 * hops; Postfix cuts off what is beyond 102,400 octets (header_size_limit), and Sendmail refuses more than 32,768.
 */
export const MAX_FIELDS = 10_000

/**
 * Splits the header of a message. This takes a microsecond; a MIME parser takes half a millisecond. The header ends at the first
 * empty line (RFC 5322 2.1). The first line before it that is not a field is the `stray`: some readers end the header at such a line.
 *
 * Throws messageMalformed for a header larger than {@link MAX_HEADER}, with more than {@link MAX_FIELDS}, or that begins with a continuation line.
 */
export function* splitHeader(message: Buffer): Stoppable<SplitMessage> {
  const empty = message.subarray(0, 2).equals(CRLF) ? -2 : message.indexOf(EMPTY_LINE)
  const headEnd = empty === -1 ? message.length : empty + 2
  if (headEnd > MAX_HEADER) throw headerTooLarge()
  const text = message.toString('latin1', 0, headEnd)
  // A continuation line would become part of the trace field that is added above it.
  if (/^[ \t]/.test(text)) {
    throw new ServiceError('messageMalformed', { values: { problem: 'the header begins with a continuation line' } })
  }
  const fields: Field[] = []
  let stray: { start: number; end: number } | undefined
  let start = 0
  for (let line = 1; start < headEnd; line++) {
    const end = endOfField(text, start)
    const nameEnd = endOfName(text, start)
    const colon = nameEnd === start ? -1 : pastBlanks(text, nameEnd)
    if (text.charCodeAt(colon) === COLON) fields.push(new HeaderField(text, { start, nameEnd, colon, end }))
    else stray ??= { start, end }
    start = end
    if (fields.length > MAX_FIELDS) throw tooManyFields()
    if (line % FIELDS === 0) yield
  }
  return { text, fields, stray, bodyStart: empty === -1 ? headEnd : headEnd + 2 }
}

/** Octets of a header that is read without a pause, and without looking at the clock; its fields take 0.5 ms at most. */
const SHORT_HEADER = 2048

/** Whether the header ends within so few octets that reading it takes no turns. */
export function hasShortHeader(message: Buffer): boolean {
  return message.subarray(0, SHORT_HEADER).includes(EMPTY_LINE)
}

export function headerTooLarge(): ServiceError {
  return new ServiceError('messageMalformed', { values: { problem: `the header exceeds ${MAX_HEADER} bytes` } })
}

function tooManyFields(): ServiceError {
  return new ServiceError('messageMalformed', { values: { problem: `the header has more than ${MAX_FIELDS} fields` } })
}

/** Fields processed before other sessions get a slot. */
export const FIELDS = 500
const COLON = 58

export const CRLF = Buffer.from('\r\n')
export const EMPTY_LINE = Buffer.from('\r\n\r\n')

/** RFC 5322 3.6.8. A hundred thousand fields take 10 ms with this loop, 12 ms with a regular expression. */
function endOfName(text: string, start: number): number {
  let at = start
  for (let code = text.charCodeAt(at); code > 32 && code < 127 && code !== COLON; code = text.charCodeAt(at)) at++
  return at
}

function pastBlanks(text: string, start: number): number {
  let at = start
  while (text[at] === ' ' || text[at] === '\t') at++
  return at
}

/** Decodes its value when it is first read: most fields are never read. */
class HeaderField implements Field {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly #header: string
  readonly #from: number
  #value: string | undefined

  constructor(header: string, { start, nameEnd, colon, end }: Record<'start' | 'nameEnd' | 'colon' | 'end', number>) {
    this.name = header.slice(start, nameEnd).toLowerCase()
    this.start = start
    this.end = end
    this.#header = header
    this.#from = colon + 1
  }

  get value(): string {
    return (this.#value ??= unfolded(this.#header.slice(this.#from, this.end)))
  }
}

function unfolded(text: string): string {
  const value = text.replaceAll('\r\n', '')
  // Trimmed when decoded: the last octet of UTF-8 may be A0, which is a blank of latin1.
  return (/[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value).trim()
}

/** The message without these fields, which must be in the order of the message. */
export function* withoutFields(message: Buffer, removed: readonly Field[]): Stoppable<Buffer> {
  if (removed.length === 0) return message
  const kept = Buffer.allocUnsafe(message.length)
  let length = 0
  let at = 0
  for (const [index, { start, end }] of removed.entries()) {
    if (start > at) length += message.copy(kept, length, at, start)
    at = end
    if (index % FIELDS === FIELDS - 1) yield
  }
  length += message.copy(kept, length, at)
  return kept.subarray(0, length)
}
