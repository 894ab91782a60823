import { isAscii, isUtf8 } from 'node:buffer'
import { splitFields } from '../end-of-field.ts'
import { parameterText } from '../parameters.ts'
import { Heads, MAX_DEPTH, MAX_PARTS, type PartField, type PartHead, partsOf } from '../read.ts'
import { encodeTransfer, readQuotedPrintable, transferEncodingOf } from '../transfer.ts'
import { asciiField } from './ascii-field.ts'
import { type CompositePart, decodeComposite, encodingOfComposite } from './composite.ts'
import { Done } from './done.ts'
import { type Edit, edited } from './edits.ts'
import { folded, hasLongLine } from './folding.ts'
import { hasIntactSignature } from './intact-signature.ts'
import { longLineIn, MAX_LINE } from './line-length.ts'
import {
  attachedIn,
  BOUNDARY,
  brokenGap,
  encodedHead,
  ended,
  foldedReport,
  type Part,
  type Position,
  REPORT,
  wholeMessage,
} from './part.ts'
import { ENCODING, isNamed, nameOf, shownName, TYPE, typeOf, valueIn } from './part-fields.ts'
import { brokenBase64, isMostlyEncoded, meantEncoding } from './transfer-encoding.ts'
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
 * `sevenBit`, with octets above 127; without it, encoded messages and multiparts are decoded, and doubled fields of parts removed. A part below
 * multipart/signed must stay as it is (RFC 1847 2.1), as must a message with another DKIM signature; the caller knows that by `isSigned`.
 *
 * Takes time linear in the length of the message, but up to a second for 30 MB: for a thread.
 */
export function conformBody(message: Buffer, rules: BodyRules & { readonly isSigned: boolean }): ConformedBody {
  const walk = new Walk(message, rules)
  const problem = walk.part(0, message.length, wholeMessage(rules.isSigned))
  if (problem !== undefined) return { kind: 'impossible', problem }
  if (walk.edits.length === 0) return { kind: 'unchanged' }
  return { kind: 'changed', message: edited(message, walk.edits), what: walk.done.words }
}

/** A reason to change some octets, in words for the sender; undefined if there is none. */
type Fault = string | undefined

const CRLF = '\r\n'
/** Those of the message itself were compared with its header. */
const NO_TWINS: PartTwins = { doubled: [] }

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
    const correctsMore = this.#correctsMore(position)
    if (!isFaulty && !correctsMore) return undefined
    const name = nameOf(position)
    const head = isFaulty ? this.#head(start, end) : this.#plainHead(start, end)
    if (!head) return isFaulty ? `${name}, which cannot be parsed, ${this.#fault(start, end)}` : undefined
    const { doubled: twins, other }: PartTwins = correctsMore && !position.isMessage ? twinsIn(head.fields) : NO_TWINS
    if (other) return `the field ${this.#nameIn(other)} occurs more than once in ${name}`
    const own = head.fields.filter((field) => !twins.includes(field))
    const contentType = typeOf(own, position.inDigest)
    if (!contentType)
      return isFaulty ? `${name}, which has two types or encodings, ${this.#fault(start, end)}` : undefined
    const { value: type, parameters } = contentType
    const fault = isFaulty ? this.#fault(head.bodyStart, end) : undefined
    const inHead = isFaulty && position.depth > 0 ? this.#fault(start, head.headEnd) : undefined
    const isContainer = type.startsWith('multipart/')
    const encoding = correctsMore ? encodingOfComposite(type, valueIn(head.fields, ENCODING)) : undefined
    const needsMore = twins.length > 0 || encoding !== undefined || (isContainer && correctsMore)
    if (!fault && !inHead && !needsMore) return undefined
    if (position.isSigned) return `${name}, which is signed, ${fault ?? inHead}`
    const fields = this.#fields(start, head.headEnd, { twins, haveFault: inHead !== undefined })
    if (typeof fields === 'string') return `${fields} of ${name}`
    const part = { ...position, head, start, end, fields, type, parameters, name }
    const [twin] = twins
    if (twin) this.done.others.push(`the second field ${this.#nameIn(twin)} of ${name} was removed`)
    if (encoding && this.#composite(part, encoding)) return undefined
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
      const around = [...part.around, boundary]
      const below = { depth: depth + 1, number, isSigned, inDigest, isAttached: part.isAttached ?? false, around }
      const problem = this.part(inner.start, inner.end, below)
      if (problem !== undefined) return problem
    }
    if (count === 0) return fault && `${name}, whose boundary is not in it, ${fault}`
    this.#gap(at, end)
    return undefined
  }

  /** Writes an encoded message, multipart or report without its encoding, or a message as a file. False if it has to stay as it is. */
  #composite(part: Part, encoding: CompositePart['encoding']): boolean {
    const { head, end, type, parameters, around, depth, name } = part
    const boundary = type.startsWith('multipart/') ? (parameterText(parameters, 'boundary') ?? '') : undefined
    if (boundary !== undefined && !BOUNDARY.test(boundary)) return false
    const body = this.#message.subarray(head.bodyStart, end)
    const decoded = depth >= MAX_DEPTH ? undefined : decodeComposite({ body, encoding, boundary, around })
    const written = decoded && this.#carried(part, decoded)
    if (!written && boundary !== undefined) return false
    this.done.others.push(written ? `${name} was decoded` : `${name} was written as a file`)
    if (!written) {
      this.#writeAs(part, encoding, encoding === 'base64' ? brokenBase64(body) : body)
      return true
    }
    const label = `Content-Transfer-Encoding: ${isAscii(written) ? '7bit' : '8bit'}\r\n`
    const fields = part.fields.map((field) => (isNamed(field, ENCODING) ? label : field))
    this.#replaceHead(part, fields)
    this.edits.push({ start: head.bodyStart, end, text: written })
    return true
  }

  /** The content of a part that was decoded, as servers carry it; undefined if that is impossible. */
  #carried(part: Part, decoded: Buffer): Buffer | undefined {
    const { type, isMessage } = part
    const isMultipart = type.startsWith('multipart/')
    // Parts are corrected also without a fault.
    if (!isMultipart && longLineIn(decoded, 0, decoded.length) === 0) return ended(decoded, isMessage)
    if (REPORT.test(type)) return ended(Buffer.from(foldedReport(decoded.toString('latin1')), 'latin1'), isMessage)
    if (!isMultipart && (type !== 'message/rfc822' || hasIntactSignature(decoded))) return undefined
    const head = isMultipart ? `${part.fields.find((field) => isNamed(field, TYPE))}\r\n` : ''
    const whole = Buffer.concat([Buffer.from(head, 'latin1'), decoded])
    const walk = new Walk(whole, this.#rules)
    const position = isMultipart ? { ...part, isMessage: true, depth: part.depth + 1 } : attachedIn(part)
    if (walk.part(0, whole.length, position) !== undefined) return undefined
    this.done.add(walk.done)
    return ended(edited(whole, walk.edits).subarray(head.length), isMessage)
  }

  /**
   * Encodes the parts of an attached message (RFC 2046 5.2.1). False if that is impossible or it is signed: nothing was changed then, and it has to
   * become a file of no known type, as has a message that is attached to an attached one: its signature would be hashed once more for each.
   */
  #attachedMessage(part: Part): boolean {
    const { head, end, depth } = part
    if (depth >= MAX_DEPTH || transferEncodingOf(meantEncoding(valueIn(head.fields, ENCODING))) !== 'identity')
      return false
    if (hasIntactSignature(this.#message.subarray(head.bodyStart, end))) return false
    const [edits, takeBack] = [this.edits.length, this.done.mark()]
    const inner = attachedIn(part)
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
    this.edits.push({ start, end, text: brokenGap(this.#ascii(start, end)) })
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
    const text = foldedReport(this.#ascii(head.bodyStart, end))
    this.#replaceHead(part, part.fields)
    this.edits.push({ start: head.bodyStart, end, text })
    this.done.encoded.push(part.name)
  }

  #leaf(part: Part, fault: string): string | undefined {
    const { head, end } = part
    const body = this.#message.subarray(head.bodyStart, end)
    const meant = transferEncodingOf(meantEncoding(valueIn(head.fields, ENCODING)))
    if (!meant) return `${part.name}, whose Content-Transfer-Encoding is unknown, ${fault}`
    if (meant === 'base64') return this.#write(part, brokenBase64(body), meant)
    const text = (meant === 'identity' ? body : readQuotedPrintable(body)).toString('latin1')
    const isBase64 = meant === 'identity' && (!part.type.startsWith('text/') || isMostlyEncoded(body))
    const encoding = isBase64 ? 'base64' : 'quoted-printable'
    return this.#write(part, encodeTransfer(text, encoding, this.#rules).octets, encoding)
  }

  #write(part: Part, octets: Buffer, encoding: string): undefined {
    this.done.encoded.push(part.name)
    this.#writeAs(part, encoding, octets)
  }

  #writeAs(part: Part, encoding: string, octets: Buffer): void {
    const { head, end } = part
    this.#replaceHead(part, encodedHead(part, encoding, this.#message.subarray(head.bodyStart, end)))
    this.edits.push({ start: head.bodyStart, end, text: octets })
  }
}
