import { isAscii, isUtf8 } from 'node:buffer'
import { fileNameParameter } from '../header.ts'
import { parameterText } from '../parameters.ts'
import { Heads, MAX_DEPTH, MAX_PARTS, type PartField, type PartHead, parseField, partsOf } from '../read.ts'
import { encodeTransfer, readQuotedPrintable } from '../transfer.ts'
import { asciiField } from './ascii-field.ts'
import { type Edit, edited } from './edits.ts'
import { folded, hasLongLine } from './folding.ts'
import { longLineIn, MAX_LINE } from './line-length.ts'
import { brokenBase64, meantEncoding } from './transfer-encoding.ts'

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
  const problem = walk.part(0, message.length, { depth: 0, number: '', isSigned: rules.isSigned, inDigest: false })
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
}

/** A reason to change some octets, in words for the sender; undefined if there is none. */
type Fault = string | undefined

const SIGNED = /^multipart\/(?:signed|encrypted)$/

class Walk {
  readonly edits: Edit[] = []
  readonly #message: Buffer
  readonly #rules: BodyRules
  readonly #heads = new Heads()
  readonly #encoded: string[] = []
  #parts = 0

  constructor(message: Buffer, rules: BodyRules) {
    this.#message = message
    this.#rules = rules
  }

  /** The changes, in words. */
  get what(): string {
    const [first, second] = this.#encoded
    if (first === undefined) return 'lines outside of its parts were broken'
    return second === undefined ? `${first} was encoded` : `${this.#encoded.length} parts were encoded`
  }

  /** Returns why the part cannot be as it has to be; undefined if it can. */
  part(start: number, end: number, position: Position): string | undefined {
    if (!this.#fault(start, end)) return undefined
    const name = nameOf(position)
    const head = ++this.#parts > MAX_PARTS ? undefined : this.#heads.read(this.#message, start, end)
    if (!head) return `${name}, which cannot be parsed, ${this.#fault(start, end)}`
    const contentType = parseField(head.fields, 'content-type', position.inDigest ? 'message/rfc822' : 'text/plain')
    const encoding = parseField(head.fields, 'content-transfer-encoding', '')
    if (!contentType || !encoding)
      return `the Content-Type or Content-Transfer-Encoding of ${name}, which ${this.#fault(start, end)}, is invalid`
    const { value: type, parameters } = contentType
    const fault = this.#fault(head.bodyStart, end)
    const inHead = position.depth > 0 ? this.#fault(start, head.headEnd) : undefined
    if (!fault && !inHead) return undefined
    if (position.isSigned) return `${name}, which is signed, ${fault ?? inHead}`
    const boundary = type.startsWith('multipart/') ? parameters.get('boundary') : undefined
    if (boundary !== undefined && position.depth >= MAX_DEPTH) return `${name}, which is nested too deeply, ${fault}`
    const problem = inHead && this.#fields(head, start, name)
    if (problem || !fault) return problem
    if (boundary === undefined) return this.#leaf(head, end, { ...position, type, parameters, name, fault })
    return this.#multipart(head, end, { position, boundary, type })
  }

  #fault(start: number, end: number): Fault {
    const line = longLineIn(this.#message, start, end)
    if (line > 0) return `has more than ${MAX_LINE} characters in line ${line}`
    return this.#rules.sevenBit && !isAscii(this.#message.subarray(start, end)) ? 'contains 8-bit text' : undefined
  }

  #multipart(
    head: PartHead,
    end: number,
    { position, boundary, type }: { position: Position; boundary: string; type: string },
  ): string | undefined {
    const isSigned = SIGNED.test(type)
    let at = head.bodyStart
    let count = 0
    for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
      this.#gap(at, inner.start)
      at = inner.end
      const number = `${position.number}${position.number === '' ? '' : '.'}${++count}`
      const below = { depth: position.depth + 1, number, isSigned, inDigest: type === 'multipart/digest' }
      const problem = this.part(inner.start, inner.end, below)
      if (problem !== undefined) return problem
    }
    this.#gap(at, end)
    return undefined
  }

  /** Before, between and after the parts is text that readers do not show (RFC 2046 5.1.1). */
  #gap(start: number, end: number): void {
    if (start >= end || !this.#fault(start, end)) return
    const lines = this.#message.toString('latin1', start, end).split('\r\n')
    const text = lines
      .map((line) => (this.#rules.sevenBit ? line.replace(/[^\x00-\x7f]/g, '?') : line))
      .map((line) => (line.length > MAX_LINE ? (line.match(/.{1,76}/gs) ?? []).join('\r\n') : line))
    this.edits.push({ start, end, text: text.join('\r\n') })
  }

  /** Fields of a part's header. */
  #fields(head: PartHead, start: number, name: string): string | undefined {
    const fields = this.#message.toString('latin1', start, head.headEnd).split(/(?<=\r\n)(?![ \t])/)
    const written: string[] = []
    for (const field of fields) {
      const ascii = this.#rules.sevenBit ? asciiField(field) : field
      const text = ascii !== undefined && hasLongLine(ascii) ? folded(ascii)?.text : ascii
      if (text === undefined)
        return `the field ${field.split(':', 1)[0]?.trim()} of ${name} is longer than ${MAX_LINE} characters and has no blanks`
      written.push(text)
    }
    this.edits.push({ start, end: head.headEnd, text: written.join('') })
    return undefined
  }

  #leaf(head: PartHead, end: number, leaf: Leaf): string | undefined {
    const body = this.#message.subarray(head.bodyStart, end)
    const written = parseField(head.fields, 'content-transfer-encoding', '')?.value ?? ''
    const own = head.fields.find(({ name }) => name === 'content-transfer-encoding')
    const meant = meantEncoding(own?.value ?? written)
    if (meant === 'base64') this.#write(head, end, { leaf, octets: brokenBase64(body), encoding: meant })
    else if (meant === 'quoted-printable') {
      const octets = encodeTransfer(readQuotedPrintable(body).toString('latin1'), meant, this.#rules).octets
      this.#write(head, end, { leaf, octets, encoding: meant })
    } else if (['', '7bit', '8bit', 'binary'].includes(meant)) this.#encode(head, end, leaf)
    else return `${leaf.name}, whose Content-Transfer-Encoding is unknown, ${leaf.fault}`
    return undefined
  }

  #encode(head: PartHead, end: number, leaf: Leaf): void {
    const body = this.#message.subarray(head.bodyStart, end)
    const isText = leaf.type.startsWith('text/')
    const encoding = isText && !isMostlyEncoded(body) ? 'quoted-printable' : 'base64'
    const { octets } = encodeTransfer(body.toString('latin1'), encoding, this.#rules)
    this.#write(head, end, { leaf, octets, encoding })
  }

  #write(head: PartHead, end: number, { leaf, octets, encoding }: Written): void {
    const body = this.#message.subarray(head.bodyStart, end)
    this.#encoded.push(leaf.name)
    const fields = [`Content-Transfer-Encoding: ${encoding}\r\n`]
    const replaced: PartField[] = head.fields.filter(({ name }) => name === 'content-transfer-encoding')
    const type = head.fields.find(({ name }) => name === 'content-type')
    if (leaf.type.startsWith('message/') && !leaf.type.startsWith('message/global')) {
      // RFC 2046 5.2.1: it must not be encoded, and many programs show an encoded one as empty.
      if (type) replaced.push(type)
      const name = parameterText(leaf.parameters, 'name') ?? 'message.eml'
      fields.unshift(`Content-Type: application/octet-stream;\r\n ${fileNameParameter('name', name)}\r\n`)
    } else if (!type && isUtf8(body) && !isAscii(body)) fields.unshift('Content-Type: text/plain; charset=utf-8\r\n')
    if (leaf.depth === 0 && !this.#hasVersion(head)) fields.unshift('MIME-Version: 1.0\r\n')
    for (const { start, end } of replaced) this.edits.push({ start, end, text: '' })
    this.edits.push({ start: head.headEnd, end: head.headEnd, text: fields.join('') })
    this.edits.push({ start: head.bodyStart, end, text: octets })
  }

  #hasVersion({ headEnd }: PartHead): boolean {
    return /^mime-version[ \t]*:/im.test(this.#message.toString('latin1', 0, headEnd))
  }
}

interface Leaf extends Position {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly name: string
  readonly fault: string
}

interface Written {
  readonly leaf: Leaf
  readonly octets: Buffer
  readonly encoding: string
}

/** Whether quoted-printable would be larger than base64. */
function isMostlyEncoded(octets: Buffer): boolean {
  let foreign = 0
  for (const octet of octets) if (octet > 126 || octet === 61) foreign++
  return foreign * 6 > octets.length
}

function nameOf({ number }: Position): string {
  return number === '' ? 'the body' : `part ${number}`
}
