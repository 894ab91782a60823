import { isAscii, isUtf8 } from 'node:buffer'
import { splitFields } from '../end-of-field.ts'
import { fileNameParameter } from '../header.ts'
import { parameterText } from '../parameters.ts'
import { Heads, MAX_DEPTH, MAX_PARTS, type PartField, type PartHead, partsOf } from '../read.ts'
import { encodeTransfer, readQuotedPrintable, transferEncodingOf } from '../transfer.ts'
import { asciiField } from './ascii-field.ts'
import { Done } from './done.ts'
import { type Edit, edited } from './edits.ts'
import { folded, hasLongLine } from './folding.ts'
import { hasIntactSignature } from './intact-signature.ts'
import { longLineIn, MAX_LINE } from './line-length.ts'
import { ENCODING, isNamed, nameOf, shownName, TYPE, typeOf } from './part-fields.ts'
import { broken, brokenBase64, isMostlyEncoded, meantEncoding } from './transfer-encoding.ts'
import { type PartTwins, twinsIn } from './twins.ts'

export interface BodyRules {
  /** For a server without 8BITMIME (RFC 6152 3): octets above 127 are encoded, too. Without it, what readers do not understand is corrected. */
  readonly sevenBit: boolean
}

/** `changed`: the message with its parts encoded. `impossible`: which part cannot be encoded, and why. */
export type ConformedBody =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly message: Uint8Array; readonly what: string }
  | { readonly kind: 'impossible'; readonly problem: string }

/**
 * Encodes the parts of a message that no server has to carry (RFC 5321 4.5.3.1.6, RFC 6152): those with lines beyond 998 characters and, with
 * `sevenBit`, with octets above 127. Without `sevenBit`, doubled fields of parts are removed, or are a problem. Nothing else is changed. A part below multipart/signed must stay as it is (RFC 1847 2.1), as must a message
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
  return { kind: 'changed', message: edited(message, walk.edits), what: walk.done.words }
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
  readonly done: Done
  #parts = 0
  /** The same of parts whose content needs nothing. */
  readonly #plainHeads = new Heads()
  #plainParts = 0

  constructor(message: Buffer, rules: BodyRules) {
    this.#message = message
    this.#rules = rules
    this.done = new Done(rules.sevenBit)
  }

  /** Returns why the part cannot be as it has to be; undefined if it can. */
  part(start: number, end: number, position: Position): string | undefined {
    const isFaulty = this.#fault(start, end) !== undefined
    if (!isFaulty && !this.#correctsMore(position)) return undefined
    const name = nameOf(position)
    const head = isFaulty ? this.#head(start, end) : this.#plainHead(start, end)
    if (!head) return isFaulty ? `${name}, which cannot be parsed, ${this.#fault(start, end)}` : undefined
    const { doubled: twins, other } = this.#twins(head, position)
    if (other) return `the field ${this.#nameIn(other)} occurs more than once in ${name}`
    const contentType = typeOf(
      head.fields.filter((field) => !twins.includes(field)),
      position.inDigest,
    )
    if (!contentType)
      return isFaulty ? `${name}, which has two types or encodings, ${this.#fault(start, end)}` : undefined
    const { value: type, parameters } = contentType
    const fault = isFaulty ? this.#fault(head.bodyStart, end) : undefined
    const inHead = isFaulty && position.depth > 0 ? this.#fault(start, head.headEnd) : undefined
    const isContainer = type.startsWith('multipart/')
    if (!fault && !inHead && twins.length === 0 && !(isContainer && this.#correctsMore(position))) return undefined
    if (position.isSigned) return `${name}, which is signed, ${fault ?? inHead}`
    const fields = this.#fields(start, head.headEnd, { twins, haveFault: inHead !== undefined })
    if (typeof fields === 'string') return `${fields} of ${name}`
    const part = { ...position, head, start, end, fields, type, parameters, name }
    const [twin] = twins
    if (twin) this.done.others.push(`the second field ${this.#nameIn(twin)} of ${name} was removed`)
    if (fault && type === 'message/rfc822' && !position.isAttached && this.#attachedMessage(part)) return undefined
    if (inHead !== undefined) this.done.headers.push(name)
    if (isContainer) return this.#multipart(part, fault)
    if (!fault) return this.#replaceHead(part, fields)
    return REPORT.test(type) ? this.#report(part) : this.#leaf(part, fault)
  }

  /** Whether more is corrected than what no server carries. Attached messages are another sender's. */
  #correctsMore({ isSigned, isAttached }: Position): boolean {
    return !this.#rules.sevenBit && !isSigned && isAttached !== true
  }

  /** Those of the message itself were compared with its header. */
  #twins(head: PartHead, position: Position): PartTwins {
    return this.#correctsMore(position) && !position.isMessage ? twinsIn(head.fields) : { doubled: [] }
  }

  /** As written. */
  #nameIn({ name, start }: PartField): string {
    return this.#message.toString('latin1', start, start + Math.min(name.length, 60))
  }

  #plainHead(start: number, end: number): PartHead | undefined {
    return ++this.#plainParts > MAX_PARTS ? undefined : this.#plainHeads.read(this.#message, start, end)
  }

  /** The line end before a delimiter may be the empty line of a part without a body. */
  #head(start: number, end: number): PartHead | undefined {
    if (++this.#parts > MAX_PARTS) return undefined
    return this.#heads.read(this.#message, start, end) ?? this.#heads.read(this.#message, start, end + CRLF.length)
  }

  #fault(start: number, end: number): Fault {
    const line = longLineIn(this.#message, start, end)
    if (line > 0) return `has more than ${MAX_LINE} characters in line ${line}`
    return this.#rules.sevenBit && !isAscii(this.#message.subarray(start, end)) ? 'contains 8-bit text' : undefined
  }

  #multipart(part: Part, fault: Fault): string | undefined {
    const { type, parameters, head, end, name, depth } = part
    const boundary = parameterText(parameters, 'boundary') ?? ''
    this.#replaceHead(part, part.fields)
    if (!BOUNDARY.test(boundary)) return fault && `${name}, whose boundary is missing or invalid, ${fault}`
    if (depth >= MAX_DEPTH) return fault && `${name}, which is nested too deeply, ${fault}`
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
    if (count === 0) return fault && `${name}, whose boundary is not in it, ${fault}`
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
    const [edits, takeBack] = [this.edits.length, this.done.mark()]
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
    takeBack()
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

  /** The fields of a part's header without the twins, corrected if they have a fault; a text names the one that cannot be. */
  #fields(
    start: number,
    end: number,
    { twins, haveFault }: { readonly twins: readonly PartField[]; readonly haveFault: boolean },
  ): readonly string[] | string {
    let at = start
    const fields = splitFields(this.#message.toString('latin1', start, end)).filter((field) => {
      const from = at
      at += field.length
      return !twins.some((twin) => twin.start === from)
    })
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
    this.done.encoded.push(part.name)
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
    this.done.encoded.push(part.name)
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

/** RFC 2046 5.1.1; more characters than there are used by some programs. */
const BOUNDARY = /^[\x20-\x7e]{1,200}$/
const REPORT = /^message\/(?:delivery-status|disposition-notification|feedback-report)$/
