import { trimBlanks } from './address.ts'

/** A header field of a part, with its position in the message. */
export interface PartField {
  /** Lower case. */
  readonly name: string
  /** Unfolded octets, one character each. */
  readonly value: string
  /** Offsets in the message, including the line end. */
  readonly start: number
  readonly end: number
}

/** A displayed text, with its position in the message. */
export interface TextPart {
  readonly type: 'text/plain' | 'text/html'
  /** The Content-* fields; headEnd is the end of the last header field. */
  readonly fields: readonly PartField[]
  readonly headEnd: number
  readonly bodyStart: number
  /** In a multipart, the line end before the delimiter is not part of the text (RFC 2046 5.1.1). */
  readonly bodyEnd: number
  readonly parameters: ReadonlyMap<string, string>
  /** Lower case; empty if not specified. */
  readonly encoding: string
}

/** Maximum nesting depth of parts (V23). */
export const MAX_DEPTH = 10
export const MAX_PARTS = 1000
/** Maximum octets of a part's header; the header of the whole message was already limited to half of it. */
const MAX_HEAD_OCTETS = 1024 * 1024
/** Maximum octets of the headers of all parts together: those of a thousand ordinary parts take a fifth of it. */
const MAX_HEADS_OCTETS = 2 * 1024 * 1024
/** Maximum length of a field that is parsed for parameters. */
const MAX_FIELD_LENGTH = 2048
/** Signed or encrypted as a single part (RFC 8551 3.2). */
export const SEALED = /^application\/(x-)?pkcs7-(mime|signature)$/
/** Parts that must be delivered unchanged: signed, encrypted, or another sender's message. */
export const CLOSED = /^(multipart\/(signed|encrypted|report|digest|x-mixed-replace)|message\/.*)$/

export interface FoundTexts {
  /** The first text/plain and the first text/html part that are not attachments, in order of position. */
  readonly texts: readonly TextPart[]
  /** The media type of the first part that was skipped because it must not be changed; undefined if there is none. */
  readonly closed: string | undefined
}

/**
 * Finds the texts of a message. Signed or encrypted parts, reports, embedded messages and ambiguous parts are skipped. Reads only as far as
 * necessary.
 */
export function findTexts(message: Buffer): FoundTexts {
  const walk = new Walk(message)
  walk.part(0, message.length, 0)
  return { texts: walk.found, closed: walk.closed }
}

class Walk {
  readonly found: TextPart[] = []
  closed: string | undefined
  readonly #message: Buffer
  readonly #heads = new Heads()
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  get #done(): boolean {
    return this.found.length === 2 || this.#parts > MAX_PARTS
  }

  part(start: number, end: number, depth: number): void {
    this.#parts++
    const head = this.#heads.read(this.#message, start, end)
    const contentType = head && parseField(head.fields, 'content-type', 'text/plain')
    if (!head || !contentType) return
    if (CLOSED.test(contentType.value) || SEALED.test(contentType.value)) this.closed ??= contentType.value
    if (CLOSED.test(contentType.value)) return
    if (contentType.value.startsWith('multipart/')) {
      const boundary = contentType.parameters.get('boundary')
      if (!boundary || boundary.length > 200 || depth >= MAX_DEPTH) return
      for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
        this.part(inner.start, inner.end, depth + 1)
        if (this.#done) return
      }
      return
    }
    const type = contentType.value
    if (type !== 'text/plain' && type !== 'text/html') return
    if (isAttachment(head.fields, contentType.parameters) || this.found.some((text) => text.type === type)) return
    const encoding = parseField(head.fields, 'content-transfer-encoding', '')
    // A Content-MD5 would be invalid after the text is changed.
    const hasDigest = head.fields.some(({ name }) => name === 'content-md5')
    if (hasDigest) this.closed ??= `${type} with Content-MD5`
    if (!encoding || hasDigest) return
    const { parameters } = contentType
    this.found.push({ ...head, type, bodyEnd: end, parameters, encoding: encoding.value })
  }
}

const EMPTY_LINE = Buffer.from('\r\n\r\n')

export type PartHead = NonNullable<ReturnType<typeof readHead>>

/** Reads the headers of one message's parts and limits their total size. */
export class Heads {
  #octets = 0

  get exhausted(): boolean {
    return this.#octets > MAX_HEADS_OCTETS
  }

  /** Undefined if the header does not end, or if the total size exceeds the limit. */
  read(message: Buffer, start: number, end: number): PartHead | undefined {
    const head = this.exhausted ? undefined : readHead(message, start, end)
    if (head) this.#octets += head.bodyStart - start
    return head
  }
}

function readHead(message: Buffer, start: number, end: number) {
  if (message[start] === 13 && message[start + 1] === 10) return { fields: [], headEnd: start, bodyStart: start + 2 }
  const at = message.subarray(start, Math.min(end, start + MAX_HEAD_OCTETS)).indexOf(EMPTY_LINE)
  if (at === -1) return undefined
  const headEnd = start + at + 2
  return { fields: fieldsOf(message.toString('latin1', start, headEnd), start), headEnd, bodyStart: headEnd + 2 }
}

/**
 * Matches a Content-* field with its continuation lines. Only these are parsed, as there may be hundreds of thousands
 * of other fields.
 */
const CONTENT_FIELD = /(?<=^|\n)(content-[^\r\n:]*):([^\r]*(?:\r(?!\n[^ \t]|\n?$)[^\r]*)*)\r\n/gi

/** Returns the fields that describe the content. */
function fieldsOf(head: string, offset: number): PartField[] {
  const fields: PartField[] = []
  for (const match of head.matchAll(CONTENT_FIELD)) {
    const [written, name = '', value = ''] = match
    const start = offset + match.index
    fields.push({
      name: name.trimEnd().toLowerCase(),
      value: trimBlanks(value.replaceAll('\r\n', '')),
      start,
      end: start + written.length,
    })
  }
  return fields
}

const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g

/** Comments before a value (RFC 2045 5.1). */
export const LEADING_COMMENTS = /^[ \t]*(?:\([^()]*\)[ \t]*)+/

/** The value before the parameters; a comment may follow it (RFC 2045 5.1). */
const FIELD_VALUE = /^[\w!#$&^.+/-]*(?=[ \t]*(?:\([^()]*\)[ \t]*)?(?:;|$))/

/**
 * Parses a field; undefined if it occurs twice or is malformed. The value is in lower case; parameters are keyed by
 * lower-case name.
 */
export function parseField(fields: readonly PartField[], wanted: string, byDefault: string) {
  const [field, second] = fields.filter(({ name }) => name === wanted)
  if (second || (field && field.value.length > MAX_FIELD_LENGTH)) return undefined
  const written = (field?.value ?? byDefault).replace(LEADING_COMMENTS, '')
  const value = FIELD_VALUE.exec(written)?.[0].toLowerCase()
  if (value === undefined) return undefined
  return { value, parameters: parametersIn(written) }
}

/** Parses the parameters of a field by lower-case name. The caller limits the field's length. */
export function parametersIn(written: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, bare = ''] of written.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? bare)
  }
  return parameters
}

/** Returns the rest of a field's parameters that {@link parametersIn} does not read, without marks and blanks. */
export function unreadIn(written: string): string {
  return written.replace(PARAMETER, '').replace(/[;\s]/g, '')
}

/** Whether the part is an attachment. Many mail readers treat a named file as one, whatever its disposition. */
export function isAttachment(fields: readonly PartField[], parameters: ReadonlyMap<string, string>): boolean {
  const disposition = fields.filter(({ name }) => name === 'content-disposition')
  if (disposition.some(({ value }) => /^attachment\b|filename/i.test(value))) return true
  return [...parameters.keys()].some((name) => /^name\b/.test(name))
}

/**
 * Yields the parts between the delimiter lines (RFC 2046 5.1.1); without a closing delimiter, the last part extends to
 * the end.
 */
export function* partsOf(
  octets: Buffer,
  bodyStart: number,
  boundary: string,
): Generator<{ start: number; end: number }> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let start = -1
  // The line end that closes the header may also begin the first delimiter.
  let from = bodyStart - 2
  for (;;) {
    const at = octets.indexOf(delimiter, from)
    if (at === -1) break
    let after = at + delimiter.length
    const closes = octets[after] === DASH && octets[after + 1] === DASH
    if (closes) after += 2
    while (octets[after] === 32 || octets[after] === 9) after++
    const lineEnds = octets[after] === 13 && octets[after + 1] === 10
    if (!lineEnds && after < octets.length) {
      from = at + 2
      continue
    }
    if (start !== -1 && start <= at) yield { start, end: at }
    if (closes) return
    start = after + 2
    from = after
  }
  if (start !== -1 && start <= octets.length) yield { start, end: octets.length }
}

const DASH = 45
