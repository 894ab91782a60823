import { canTakeApart } from './closed.ts'
import { contentIdsIn } from './content-id.ts'
import { decodeText } from './decode-text.ts'
import type { FoundFile, MessageParts } from './message-parts.ts'
import { parameterText } from './parameters.ts'
import { Heads, isAttachment, MAX_DEPTH, MAX_PARTS, type PartField, parseField, partsOf } from './read.ts'
import { decodeTransfer, transferEncodingOf } from './transfer.ts'

/** Maximum octets of all texts together: a larger text is probably a file, and the message is left unchanged. */
const MAX_TEXT_OCTETS = 10 * 1024 * 1024

const MAX_LONE_HEAD_OCTETS = 64 * 1024

/** Reads a message into its parts. Several texts of one type are concatenated in order. */
export function readParts(message: Buffer): MessageParts {
  const walk = new Walk(message)
  walk.part(0, message.length, { depth: 0, related: false })
  const html = walk.html.length === 0 ? undefined : walk.html.join('<br/>\n')
  const text = walk.text.length === 0 ? undefined : walk.text.join('\n')
  const shown = html !== undefined && walk.files.some(({ contentId }) => contentId) ? contentIdsIn(html) : undefined
  return {
    complete: walk.complete,
    whole: walk.complete && canTakeApart(message),
    ...(html === undefined ? {} : { html: Buffer.from(html) }),
    ...(text === undefined ? {} : { text: Buffer.from(text) }),
    alternatives: walk.alternatives.map(({ type, text }) => ({ type, text: Buffer.from(text) })),
    files: walk.files.map(({ related, ...file }) => ({
      ...file,
      inline:
        file.inline || related || (file.contentId !== undefined && shown?.has(file.contentId.toLowerCase()) === true),
    })),
  }
}

interface Position {
  readonly depth: number
  /** Within multipart/related, whose parts belong to its first part. */
  readonly related: boolean
}

interface PartInfo {
  readonly fields: readonly PartField[]
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  /** Undefined if not specified. */
  readonly disposition: string | undefined
  readonly names: ReadonlyMap<string, string>
}

class Walk {
  readonly html: string[] = []
  readonly text: string[] = []
  readonly alternatives: { type: string; text: string }[] = []
  readonly files: (FoundFile & { readonly related: boolean })[] = []
  complete = true
  readonly #message: Buffer
  readonly #heads = new Heads()
  #parts = 0
  #texts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  part(start: number, end: number, position: Position): void {
    const found = ++this.#parts > MAX_PARTS ? undefined : this.#heads.read(this.#message, start, end)
    if (!found) {
      // A header that does not end is a part without a body.
      if (this.#parts > MAX_PARTS || this.#heads.exhausted || end - start > MAX_LONE_HEAD_OCTETS) this.complete = false
      return
    }
    const head = headOf(found.fields)
    const boundary = head.type.startsWith('multipart/') ? head.parameters.get('boundary') : undefined
    if (boundary && position.depth >= MAX_DEPTH) this.complete = false
    if (!boundary || position.depth >= MAX_DEPTH) {
      this.#leaf(head, found.bodyStart, end, position)
      return
    }
    const related = position.related || head.type === 'multipart/related'
    for (const inner of partsOf(this.#message.subarray(0, end), found.bodyStart, boundary)) {
      this.part(inner.start, inner.end, { depth: position.depth + 1, related })
      if (this.#parts > MAX_PARTS) return
    }
  }

  #leaf(head: PartInfo, start: number, end: number, { related }: Position): void {
    const { fields, type, parameters, disposition } = head
    const octets = decodeOctets(
      this.#message.subarray(start, end),
      parseField(fields, 'content-transfer-encoding', '')?.value,
    )
    const contentId = contentIdOf(fields)
    const fileName = parameterText(head.names, 'filename') ?? parameterText(parameters, 'name')
    const isText = type === 'text/plain' || type === 'text/html'
    if (isText && (disposition ?? 'inline') === 'inline' && !isAttachment(fields, parameters)) {
      const text = this.#textOf(octets, type, parameters)
      if (text !== undefined) this[type === 'text/html' ? 'html' : 'text'].push(text)
      return
    }
    const chosen = /^text\/(calendar|x-amp-html)$/.test(type)
    if (chosen && disposition === undefined && fileName === undefined && contentId === undefined) {
      const text = this.#textOf(octets, type, parameters)
      if (text !== undefined) this.alternatives.push({ type, text })
      return
    }
    this.files.push({
      fileName,
      type,
      inline: disposition === 'inline',
      contentId,
      content: octets,
      related: related && contentId !== undefined,
    })
  }

  /** Undefined if the text would exceed the limit. */
  #textOf(octets: Buffer, type: string, parameters: ReadonlyMap<string, string>): string | undefined {
    this.#texts += octets.length
    if (this.#texts > MAX_TEXT_OCTETS) {
      this.complete = false
      return undefined
    }
    const charset = parameterText(parameters, 'charset') ?? ''
    const text = decodeText(octets, charset, { isHtml: type === 'text/html' }).replaceAll('\r\n', '\n')
    if (parameters.get('format')?.toLowerCase() !== 'flowed') return text
    return unflowed(text, parameters.get('delsp')?.toLowerCase() === 'yes')
  }
}

function headOf(fields: readonly PartField[]): PartInfo {
  const contentType = parseField(fields, 'content-type', 'text/plain')
  const disposition = parseField(fields, 'content-disposition', '')
  return {
    fields,
    // An unparsable type is treated as binary data (RFC 2045 5.2 would treat it as text and display it).
    type: contentType?.value || 'application/octet-stream',
    parameters: contentType?.parameters ?? new Map(),
    disposition: disposition?.value || undefined,
    names: disposition?.parameters ?? new Map(),
  }
}

function contentIdOf(fields: readonly PartField[]): string | undefined {
  const value = fields.find(({ name }) => name === 'content-id')?.value
  return value?.replace(/^<|>$/g, '').trim() || undefined
}

/** Decodes as much as possible: a file that lost an octet in transit is still useful. */
export function decodeOctets(octets: Buffer, encoding = ''): Buffer {
  const known = transferEncodingOf(encoding)
  if (known === undefined) return octets
  if (known === 'base64') return Buffer.from(octets.toString('latin1'), 'base64')
  return decodeTransfer(octets, known) ?? octets
}

/** RFC 3676: a line that ends with a space continues on the next line, except for a signature separator. */
function unflowed(text: string, delSp: boolean): string {
  const pieces: string[] = []
  let open = false
  for (const line of text.split('\n')) {
    if (!open) pieces.push(pieces.length > 0 ? '\n' : '')
    const bare: string = !open && line.startsWith(' ') ? line.slice(1) : line
    const flows: boolean = bare.endsWith(' ') && !(bare === '-- ' && !open)
    pieces.push(flows && delSp ? bare.slice(0, -1) : bare)
    open = flows
  }
  return pieces.join('')
}
