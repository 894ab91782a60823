/** A header field of a part, where it stands in the message. */
export interface PartField {
  /** Lower case. */
  readonly name: string
  /** Unfolded, as octets. */
  readonly value: string
  /** Offsets into the message, line end included. */
  readonly start: number
  readonly end: number
}

/** A text that a reader is shown, where it stands in the message. */
export interface TextPart {
  readonly type: 'text/plain' | 'text/html'
  /** The fields Content-*, and where the last field of the header ends. */
  readonly fields: readonly PartField[]
  readonly headEnd: number
  readonly bodyStart: number
  /** In a multipart the line end before the delimiter is not the text's (RFC 2046 5.1.1). */
  readonly bodyEnd: number
  readonly parameters: ReadonlyMap<string, string>
  /** Lower case; empty: none is named. */
  readonly encoding: string
}

/** Parts in parts (V23). */
export const DEEPEST = 10
export const MOST_PARTS = 1000
/** Octets of the header of a part; that of the whole message was bounded at the door, to half of it. */
const LONGEST_HEAD = 1024 * 1024
/** Octets of the headers of all parts together: those of a thousand ordinary ones take a fifth of it. */
const LONGEST_HEADS = 2 * 1024 * 1024
/** Characters of a field that is read for parameters. */
const LONGEST_FIELD = 2048
/** What must arrive as it was written: signed or encrypted as it is, or somebody else's message. */
export const CLOSED = /^(multipart\/(signed|encrypted|report|digest|x-mixed-replace)|message\/.*)$/

/**
 * Finds the first text/plain and the first text/html part that are no attachments, in the order they stand. Whatever is signed,
 * encrypted, a report or a message of its own is passed over, and so is what cannot be read beyond doubt. Reads no further than
 * it must.
 */
export function findTexts(message: Buffer): TextPart[] {
  const walk = new Walk(message)
  walk.part(0, message.length, 0)
  return walk.found
}

class Walk {
  readonly found: TextPart[] = []
  readonly #message: Buffer
  readonly #heads = new Heads()
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  get #done(): boolean {
    return this.found.length === 2 || this.#parts > MOST_PARTS
  }

  part(start: number, end: number, depth: number): void {
    this.#parts++
    const head = this.#heads.read(this.#message, start, end)
    const contentType = head && parseField(head.fields, 'content-type', 'text/plain')
    if (!head || !contentType || CLOSED.test(contentType.value)) return
    if (contentType.value.startsWith('multipart/')) {
      const boundary = contentType.parameters.get('boundary')
      if (!boundary || boundary.length > 200 || depth >= DEEPEST) return
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
    // An octet count or a checksum of what it was would be wrong of what it becomes.
    if (!encoding || head.fields.some(({ name }) => name === 'content-md5')) return
    const { parameters } = contentType
    this.found.push({ ...head, type, bodyEnd: end, parameters, encoding: encoding.value })
  }
}

const EMPTY_LINE = Buffer.from('\r\n\r\n')

export type PartHead = NonNullable<ReturnType<typeof readHead>>

/** The headers of one message's parts. */
export class Heads {
  #octets = 0

  get exhausted(): boolean {
    return this.#octets > LONGEST_HEADS
  }

  /** Undefined: it has no end, or there is too much of them. */
  read(message: Buffer, start: number, end: number): PartHead | undefined {
    const head = this.exhausted ? undefined : readHead(message, start, end)
    if (head) this.#octets += head.bodyStart - start
    return head
  }
}

function readHead(message: Buffer, start: number, end: number) {
  if (message[start] === 13 && message[start + 1] === 10) return { fields: [], headEnd: start, bodyStart: start + 2 }
  const at = message.subarray(start, Math.min(end, start + LONGEST_HEAD)).indexOf(EMPTY_LINE)
  if (at === -1) return undefined
  const headEnd = start + at + 2
  return { fields: fieldsOf(message.toString('latin1', start, headEnd), start), headEnd, bodyStart: headEnd + 2 }
}

/** A field with the lines that it goes on in. Others may stand there by the hundred thousand, and are not looked into. */
const CONTENT_FIELD = /(?<=^|\n)(content-[^\r\n:]*):([^\r]*(?:\r(?!\n[^ \t]|\n?$)[^\r]*)*)\r\n/gi

/** Those that say what the content is. */
function fieldsOf(head: string, offset: number): PartField[] {
  const fields: PartField[] = []
  for (const match of head.matchAll(CONTENT_FIELD)) {
    const [written, name = '', value = ''] = match
    const start = offset + match.index
    fields.push({
      name: name.trimEnd().toLowerCase(),
      value: value.replaceAll('\r\n', '').trim(),
      start,
      end: start + written.length,
    })
  }
  return fields
}

const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g

/** Undefined: it stands there twice, or can't be read. The value comes in lower case, parameters by lower-case name. */
export function parseField(fields: readonly PartField[], wanted: string, byDefault: string) {
  const [field, second] = fields.filter(({ name }) => name === wanted)
  if (second || (field && field.value.length > LONGEST_FIELD)) return undefined
  const written = field?.value ?? byDefault
  const value = /^[\w!#$&^.+/-]*(?=[ \t]*(?:;|$))/.exec(written)?.[0].toLowerCase()
  if (value === undefined) return undefined
  return { value, parameters: parametersIn(written) }
}

/** What follows the value of a field, by lower-case name. The field is bounded by its caller. */
export function parametersIn(written: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, bare = ''] of written.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? bare)
  }
  return parameters
}

/** A named file, whatever its disposition, is an attachment to many readers. */
export function isAttachment(fields: readonly PartField[], parameters: ReadonlyMap<string, string>): boolean {
  const disposition = fields.filter(({ name }) => name === 'content-disposition')
  if (disposition.some(({ value }) => /^attachment\b|filename/i.test(value))) return true
  return [...parameters.keys()].some((name) => /^name\b/.test(name))
}

/** What lies between the delimiter lines (RFC 2046 5.1.1); what comes after an unclosed one goes to the end. */
export function* partsOf(
  octets: Buffer,
  bodyStart: number,
  boundary: string,
): Generator<{ start: number; end: number }> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let start = -1
  // The line end of the header's empty line may be the delimiter's.
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
