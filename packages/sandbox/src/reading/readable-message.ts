import {
  base64Lines,
  decodeText,
  type Edit,
  edited,
  Heads,
  isPlain,
  isPlainText,
  MAX_DEPTH,
  MAX_PARTS,
  meantEncoding,
  type PartField,
  type PartHead,
  parametersField,
  parameterText,
  parseField,
  partsOf,
  readQuotedPrintable,
  splitFields,
  transferEncodingOf,
} from '@postrider/core/mime'
import { HeaderText } from './header-text.ts'
import { isKnown, isRead } from './known-charsets.ts'

/**
 * Returns a message in a form in which mailparser reads what mail programs read: raw text of headers, unknown, missing and incorrect charsets, names of
 * files, near misses of encodings, and blanks behind boundaries. The same buffer if there is nothing to change. Takes time linear in its length.
 */
export function readableMessage(message: Buffer): Buffer {
  const walk = new Walk(message)
  walk.part(0, message.length, 0)
  return walk.edits.length === 0 ? message : edited(message, walk.edits)
}

/** The fields of a message's header in order, as they were written except that raw text is decoded. */
export function writtenHeaders(message: Buffer): { name: string; value: string }[] {
  const end = /\r?\n\r?\n/.exec(message.toString('latin1'))?.index ?? message.length
  const fields = message
    .toString('latin1', 0, end)
    .replace(/\r?\n$/, '')
    .split(/\r?\n(?![ \t])/)
  if (/^(?:From|POST) /i.test(fields[0] ?? '')) fields.shift()
  const text = new HeaderText(charsetOf(new Heads().read(message, 0, message.length)?.fields ?? []))
  return fields.map((field) => {
    const colon = field.indexOf(':')
    return { name: field.slice(0, colon), value: text.decode(field.slice(colon + 1)).trim() }
  })
}

const [TYPE, ENCODING, DISPOSITION] = ['content-type', 'content-transfer-encoding', 'content-disposition']
const TEXT = { value: 'text/plain', parameters: new Map<string, string>() }
const AS_TEXT = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n'
/** Characters of the longest name of a field. */
const MAX_NAME = 998
/** The beginning of a parameter by RFC 2231, with its charset if it has one. */
const EXTENDED = /\*(?:0\*)?[ \t]*=[ \t]*"?([^'";\s]{0,60})('?)/

class Walk {
  readonly edits: Edit[] = []
  readonly #message: Buffer
  readonly #heads = new Heads()
  #text = new HeaderText('')
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  part(start: number, end: number, depth: number): void {
    if (depth > 0 && this.#isWithoutHeader(start, end)) return
    const head = ++this.#parts > MAX_PARTS ? undefined : this.#heads.read(this.#message, start, end)
    if (depth === 0) {
      this.#text = new HeaderText(charsetOf(head?.fields ?? []))
      this.#header(head?.headEnd ?? end)
    }
    if (!head) return
    const type = parseField(head.fields, TYPE, 'text/plain')
    const hasNoParts = type?.value.startsWith('multipart/') && !parameterText(type.parameters, 'boundary')
    const read = hasNoParts ? TEXT : type
    const isRewritten = read && this.#body(head, read, end, hasNoParts)
    if (!isRewritten) for (const field of head.fields) this.#field(field)
    const boundary = type?.value.startsWith('multipart/') ? parameterText(type.parameters, 'boundary') : undefined
    if (!boundary || boundary.length > 200 || depth >= MAX_DEPTH) return
    let last = head.bodyStart
    for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
      this.#trim(inner.start - 2)
      this.part(inner.start, inner.end, depth + 1)
      last = inner.end
    }
    const closing = `\r\n--${boundary}--`
    const after = last + closing.length
    if (after < end && this.#message.toString('latin1', last, after) === closing) {
      const line = this.#message.indexOf('\r\n', after)
      this.#trim(line === -1 || line > end ? end : line)
    }
  }

  /** A part that begins with text instead of a field is text, without the empty line that should precede it. */
  #isWithoutHeader(start: number, end: number): boolean {
    const line = this.#message.toString('latin1', start, Math.min(end, start + MAX_NAME))
    if (start >= end || /^(?:\r|[!-9;-~]+[ \t]*:)/.test(line)) return false
    const text = decodeText(this.#message.subarray(start, end), '')
    this.edits.push({ start, end, text: Buffer.concat([Buffer.from(AS_TEXT), base64Lines(Buffer.from(text))]) })
    return true
  }

  /** Fields that describe the content are corrected with those of the other parts. */
  #header(end: number): void {
    const head = this.#message.toString('latin1', 0, end)
    if (!/[^\x00-\x1a\x1c-\x7f]|=\?/.test(head)) return
    let at = 0
    for (const field of splitFields(head)) {
      const start = at
      at += field.length
      if (/^content-/i.test(field)) continue
      const text = this.#text.readable(field)
      if (text !== field) this.edits.push({ start, end: at, text })
    }
  }

  #field({ name, value, start, end }: PartField): void {
    const written = this.#message.toString('latin1', start, end)
    const text = this.#readableField(name, value) ?? this.#text.readable(written)
    if (text !== written) this.edits.push({ start, end, text })
  }

  #readableField(name: string, value: string): string | undefined {
    if (name === ENCODING) {
      const meant = meantEncoding(value)
      return meant === value.toLowerCase() || transferEncodingOf(meant) === undefined
        ? undefined
        : `${name}: ${meant}\r\n`
    }
    if (name !== TYPE && name !== DISPOSITION) return undefined
    const [written, charset = '', quote] = EXTENDED.exec(value) ?? []
    if (written === undefined || (quote !== '' && charset !== '' && isKnown(charset))) return undefined
    return parametersField(name, value)
  }

  /** Removes the blanks before a line end. */
  #trim(end: number): void {
    let start = end
    while (start > 0 && (this.#message[start - 1] === 32 || this.#message[start - 1] === 9)) start--
    if (start < end) this.edits.push({ start, end, text: '' })
  }

  /** Writes a text in UTF-8, if mailparser would read another one. */
  #body(head: PartHead, type: NonNullable<ReturnType<typeof parseField>>, end: number, isForced = false): boolean {
    const { value: essence, parameters } = type
    const { fields, headEnd, bodyStart } = head
    const disposition = fields.find(({ name }) => name === DISPOSITION)?.value ?? 'inline'
    if (!/^text\/(?:plain|html)$/.test(essence) || !/^inline\b/i.test(disposition)) return false
    const octets = decoded(this.#message.subarray(bodyStart, end), fields)
    const charset = charsetOf(fields)
    const isGuessed = isPlain(charset) || !isKnown(charset)
    const isReadable = isGuessed ? isPlainText(octets) : isRead(charset) && octets.toString('hex', 0, 3) !== 'efbbbf'
    if (isReadable && !isForced) return false
    const flowed = ['format', 'delsp'].flatMap((name) => {
      const value = parameters.get(name)
      return value === undefined ? [] : [`; ${name}="${value.replace(/["\\]/g, '')}"`]
    })
    for (const { name, start, end } of fields)
      if (name === TYPE || name === ENCODING) this.edits.push({ start, end, text: '' })
    const added = `Content-Type: ${essence}; charset=utf-8${flowed.join('')}\r\nContent-Transfer-Encoding: base64\r\n`
    this.edits.push({ start: headEnd, end: headEnd, text: added })
    const text = decodeText(octets, charset, { isHtml: essence === 'text/html' })
    this.edits.push({ start: bodyStart, end, text: base64Lines(Buffer.from(text)) })
    return true
  }
}

function charsetOf(fields: readonly PartField[]): string {
  return parameterText(parseField(fields, TYPE, 'text/plain')?.parameters ?? new Map(), 'charset') ?? ''
}

/** Without transfer encoding, as well as possible. */
function decoded(octets: Buffer, fields: readonly PartField[]): Buffer {
  const encoding = transferEncodingOf(meantEncoding(fields.find(({ name }) => name === ENCODING)?.value ?? ''))
  if (encoding === 'base64') return Buffer.from(octets.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? readQuotedPrintable(octets) : octets
}
