import { isAscii, isUtf8 } from 'node:buffer'
import { splitFields } from '../end-of-field.ts'
import { fileNameParameter } from '../header.ts'
import { leadingEssence } from '../media-type.ts'
import { parameterText } from '../parameters.ts'
import {
  Heads,
  LEADING_COMMENTS,
  MAX_DEPTH,
  MAX_PARTS,
  type PartHead,
  parametersIn,
  parseField,
  partsOf,
} from '../read.ts'
import { encodeTransfer, readQuotedPrintable, transferEncodingOf } from '../transfer.ts'
import { asciiField } from './ascii-field.ts'
import { type Edit, edited } from './edits.ts'
import { folded, hasLongLine } from './folding.ts'
import { hasIntactSignature } from './intact-signature.ts'
import { longLineIn, MAX_LINE } from './line-length.ts'
import { broken, brokenBase64, isMostlyEncoded, meantEncoding } from './transfer-encoding.ts'

export interface BodyRules {
  /** Octets above 127 are encoded, too: for a server without 8BITMIME (RFC 6152 3). */
  readonly sevenBit: boolean
}

/** `changed`: the message with its parts encoded. `impossible`: which part cannot be encoded, and why. */
export type ConformedBody =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly message: Uint8Array; readonly what: string }
  | { readonly kind: 'impossible'; readonly problem: string }

/**
 * Encodes the parts of a message that no server has to carry (RFC 5321 4.5.3.1.6, RFC 6152): those with lines beyond 998 characters and, with
 * `sevenBit`, with octets above 127. Nothing else is changed. A part below multipart/signed must stay as it is (RFC 1847 2.1), as must a message
 * with another DKIM signature; the caller knows that by `isSigned`.
 *
 * Takes time linear in the length of the message, but up to a second for 30 MB: for a thread.
 */
export function conformBody(message: Buffer, rules: BodyRules & { readonly isSigned: boolean }): ConformedBody {
  const walk = new Walk(message, rules)
  const problem = walk.part(0, message.length, {
    depth: 0,
    number: '',
    isSigned: rules.isSigned,
    inDigest: false,
    isMessage: true,
  })
  if (problem !== undefined) return { kind: 'impossible', problem }
  if (walk.edits.length === 0) return { kind: 'unchanged' }
  return { kind: 'changed', message: edited(message, walk.edits), what: walk.what }
}

interface Position {
  readonly depth: number
  /** As in IMAP: 1.2; empty for the message itself. */
  readonly number: string
  readonly isSigned: boolean
  readonly inDigest: boolean
  /** A message, and one that is attached to another. */
  readonly isMessage?: boolean
  readonly isAttached?: boolean
}

/** A reason to change some octets, in words for the sender; undefined if there is none. */
type Fault = string | undefined

const CRLF = '\r\n'

class Walk {
  readonly edits: Edit[] = []
  readonly #message: Buffer
  readonly #rules: BodyRules
  readonly #heads = new Heads()
  readonly #encoded: string[] = []
  /** Parts whose header was folded or encoded. */
  readonly #headers: string[] = []
  #parts = 0

  constructor(message: Buffer, rules: BodyRules) {
    this.#message = message
    this.#rules = rules
  }

  /** The changes, in words. */
  get what(): string {
    const [parts, headers] = [this.#encoded, this.#headers]
    if (parts.length > 0) return parts.length > 1 ? `${parts.length} parts were encoded` : `${parts[0]} was encoded`
    const done = this.#rules.sevenBit ? 'written in ASCII' : 'folded'
    if (headers.length > 1) return `the headers of ${headers.length} parts were ${done}`
    return headers.length > 0 ? `the header of ${headers[0]} was ${done}` : 'lines outside of its parts were broken'
  }

  /** Returns why the part cannot be as it has to be; undefined if it can. */
  part(start: number, end: number, position: Position): string | undefined {
    if (!this.#fault(start, end)) return undefined
    const name = nameOf(position)
    const head = ++this.#parts > MAX_PARTS ? undefined : this.#head(start, end)
    if (!head) return `${name}, which cannot be parsed, ${this.#fault(start, end)}`
    const contentType = typeOf(head, position)
    if (!contentType) return `${name}, which has two types or encodings, ${this.#fault(start, end)}`
    const { value: type, parameters } = contentType
    const fault = this.#fault(head.bodyStart, end)
    const inHead = position.depth > 0 ? this.#fault(start, head.headEnd) : undefined
    if (!fault && !inHead) return undefined
    if (position.isSigned) return `${name}, which is signed, ${fault ?? inHead}`
    const fields = this.#fields(start, head.headEnd, inHead !== undefined)
    if (typeof fields === 'string') return `${fields} of ${name}`
    const part = { ...position, head, start, end, fields, type, parameters, name }
    if (fault && type === 'message/rfc822' && !position.isAttached && this.#attachedMessage(part)) return undefined
    if (inHead !== undefined) this.#headers.push(name)
    if (!fault) return this.#replaceHead(part, fields)
    if (type.startsWith('multipart/')) return this.#multipart(part, fault)
    return REPORT.test(type) ? this.#report(part) : this.#leaf(part, fault)
  }

  /** The line end before a delimiter may be the empty line of a part without a body. */
  #head(start: number, end: number): PartHead | undefined {
    return this.#heads.read(this.#message, start, end) ?? this.#heads.read(this.#message, start, end + CRLF.length)
  }

  #fault(start: number, end: number): Fault {
    const line = longLineIn(this.#message, start, end)
    if (line > 0) return `has more than ${MAX_LINE} characters in line ${line}`
    return this.#rules.sevenBit && !isAscii(this.#message.subarray(start, end)) ? 'contains 8-bit text' : undefined
  }

  #multipart(part: Part, fault: string): string | undefined {
    const { type, parameters, head, end, name, depth } = part
    const boundary = parameterText(parameters, 'boundary') ?? ''
    if (!BOUNDARY.test(boundary)) return `${name}, whose boundary is missing or invalid, ${fault}`
    if (depth >= MAX_DEPTH) return `${name}, which is nested too deeply, ${fault}`
    this.#replaceHead(part, part.fields)
    let at = head.bodyStart
    let count = 0
    for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
      this.#gap(at, inner.start)
      at = inner.end
      const number = `${part.number}${part.number === '' ? '' : '.'}${++count}`
      // RFC 1847 2.1: the second part is the signature.
      const isSigned = type === 'multipart/encrypted' || (type === 'multipart/signed' && count === 1)
      const inDigest = type === 'multipart/digest'
      const below = { depth: depth + 1, number, isSigned, inDigest, isAttached: part.isAttached ?? false }
      const problem = this.part(inner.start, inner.end, below)
      if (problem !== undefined) return problem
    }
    if (count === 0) return `${name}, whose boundary is not in it, ${fault}`
    this.#gap(at, end)
    return undefined
  }

  /**
   * Encodes the parts of an attached message (RFC 2046 5.2.1). False if that is impossible or it is signed: nothing was changed then, and it has to
   * become a file of no known type, as has a message that is attached to an attached one: its signature would be hashed once more for each.
   */
  #attachedMessage(part: Part): boolean {
    const { head, end, depth, number } = part
    const encoding = head.fields.find(({ name }) => name === ENCODING)?.value ?? ''
    if (depth >= MAX_DEPTH || transferEncodingOf(meantEncoding(encoding)) !== 'identity') return false
    if (hasIntactSignature(this.#message.subarray(head.bodyStart, end))) return false
    const [edits, encoded, headers] = [this.edits.length, this.#encoded.length, this.#headers.length]
    const inner = { depth: depth + 1, number, isSigned: false, inDigest: false, isMessage: true, isAttached: true }
    if (this.part(head.bodyStart, end, inner) === undefined) {
      const label = `Content-Transfer-Encoding: 7bit\r\n`
      const fields = this.#rules.sevenBit
        ? part.fields.map((field) => (isNamed(field, ENCODING) ? label : field))
        : part.fields
      this.#replaceHead(part, fields)
      return true
    }
    this.edits.length = edits
    this.#encoded.length = encoded
    this.#headers.length = headers
    return false
  }

  /** Before, between and after the parts is text that readers do not show (RFC 2046 5.1.1). */
  #gap(start: number, end: number): void {
    if (start >= end || !this.#fault(start, end)) return
    const lines = this.#ascii(start, end).split('\r\n')
    // A piece must not become a delimiter.
    const text = lines.map((line) =>
      line.length > MAX_LINE ? broken(line, '\r\n').replaceAll('\r\n--', '\r\n -') : line,
    )
    this.edits.push({ start, end, text: text.join('\r\n') })
  }

  /** Text without another way to write it. */
  #ascii(start: number, end: number): string {
    const octets = this.#message.subarray(start, end)
    if (!this.#rules.sevenBit || isAscii(octets)) return octets.toString('latin1')
    return (isUtf8(octets) ? octets.toString() : octets.toString('latin1')).replace(/[^\x00-\x7f]/gu, '?')
  }

  /** The fields of a part's header, corrected if they have a fault; a text names the one that cannot be. */
  #fields(start: number, end: number, haveFault: boolean): readonly string[] | string {
    const fields = splitFields(this.#message.toString('latin1', start, end))
    if (!haveFault) return fields
    const written: string[] = []
    for (const field of fields) {
      const ascii = this.#rules.sevenBit ? asciiField(field, { fallback: 'windows-1252' }) : field
      const text = ascii !== undefined && hasLongLine(ascii) ? folded(ascii)?.text : ascii
      if (text === undefined) return `the line "${shownName(field)}" cannot be corrected in the header`
      written.push(text)
    }
    return written
  }

  #replaceHead({ start, head }: Part, fields: readonly string[]): undefined {
    const text = fields.join('')
    if (text !== this.#message.toString('latin1', start, head.headEnd))
      this.edits.push({ start, end: head.headEnd, text })
  }

  /** Reports are read by programs (RFC 3464, RFC 8098): their fields are folded, and letters beyond ASCII become question marks. */
  #report(part: Part): undefined {
    const { head, end } = part
    const lines = this.#ascii(head.bodyStart, end).split('\r\n')
    const text = lines.map((line) => (line.length > MAX_LINE ? broken(line, '\r\n ') : line)).join('\r\n')
    this.#replaceHead(part, part.fields)
    this.edits.push({ start: head.bodyStart, end, text })
    this.#encoded.push(part.name)
  }

  #leaf(part: Part, fault: string): string | undefined {
    const { head, end } = part
    const body = this.#message.subarray(head.bodyStart, end)
    const meant = transferEncodingOf(meantEncoding(head.fields.find(({ name }) => name === ENCODING)?.value ?? ''))
    if (!meant) return `${part.name}, whose Content-Transfer-Encoding is unknown, ${fault}`
    if (meant === 'base64') return this.#write(part, brokenBase64(body), meant)
    const text = (meant === 'identity' ? body : readQuotedPrintable(body)).toString('latin1')
    const isBase64 = meant === 'identity' && (!part.type.startsWith('text/') || isMostlyEncoded(body))
    const encoding = isBase64 ? 'base64' : 'quoted-printable'
    return this.#write(part, encodeTransfer(text, encoding, this.#rules).octets, encoding)
  }

  #write(part: Part, octets: Buffer, encoding: string): undefined {
    const { head, end, fields, type, parameters } = part
    const body = this.#message.subarray(head.bodyStart, end)
    this.#encoded.push(part.name)
    const isMessage = type.startsWith('message/') && !type.startsWith('message/global')
    const kept = fields.filter((field) => !isNamed(field, ENCODING) && !(isMessage && isNamed(field, TYPE)))
    const added = [`Content-Transfer-Encoding: ${encoding}\r\n`]
    if (isMessage) {
      // RFC 2046 5.2.1: it must not be encoded, and many programs show an encoded one as empty.
      const name = parameterText(parameters, 'name') ?? 'message.eml'
      added.unshift(`Content-Type: application/octet-stream;\r\n ${fileNameParameter('name', name)}\r\n`)
    } else if (!kept.some((field) => isNamed(field, TYPE)) && isUtf8(body) && !isAscii(body)) {
      added.unshift('Content-Type: text/plain; charset=utf-8\r\n')
    }
    if (part.isMessage && !kept.some((field) => isNamed(field, 'mime-version'))) added.unshift('MIME-Version: 1.0\r\n')
    this.#replaceHead(part, [...kept, ...added])
    this.edits.push({ start: head.bodyStart, end, text: octets })
  }
}

interface Part extends Position {
  readonly head: PartHead
  readonly start: number
  readonly end: number
  /** As they are to be sent, with their line ends. */
  readonly fields: readonly string[]
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly name: string
}

const [TYPE, ENCODING] = ['content-type', 'content-transfer-encoding']
/** RFC 2046 5.1.1; more characters than there are used by some programs. */
const BOUNDARY = /^[\x20-\x7e]{1,200}$/
const REPORT = /^message\/(?:delivery-status|disposition-notification|feedback-report)$/

/** Undefined if it has two. One that is malformed is read by its beginning, as readers do. */
function typeOf(
  { fields }: PartHead,
  { inDigest }: Position,
): { value: string; parameters: ReadonlyMap<string, string> } | undefined {
  const types = fields.filter(({ name }) => name === TYPE)
  if (types.length > 1 || fields.filter(({ name }) => name === ENCODING).length > 1) return undefined
  const byDefault = inDigest ? 'message/rfc822' : 'text/plain'
  const read = parseField(fields, TYPE, byDefault)
  if (read) return read
  const written = types[0]?.value.slice(0, MAX_LINE).replace(LEADING_COMMENTS, '') ?? ''
  return { value: leadingEssence(written) ?? byDefault, parameters: parametersIn(written) }
}

function isNamed(field: string, name: string): boolean {
  return field.slice(0, field.indexOf(':')).trimEnd().toLowerCase() === name
}

/** The beginning of a line for a reply. */
function shownName(field: string): string {
  return (field.split(':', 1)[0] ?? '').slice(0, 60).replace(/[^\x21-\x7e]/g, '?')
}

function nameOf({ number }: Position): string {
  return number === '' ? 'the body' : `part ${number}`
}
