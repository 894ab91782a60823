import { CLOSED, DEEPEST, Heads, isAttachment, MOST_PARTS, type PartField, parseField, partsOf } from './read.ts'

/** Signed or encrypted in one piece (RFC 8551 3.2). */
const SEALED = /^application\/(x-)?pkcs7-(mime|signature)$/

/**
 * Whether the message can be made anew from its parts without loss: nothing in it is signed, encrypted, a report or a message of
 * its own, its structure is beyond doubt, and its texts are one text, in alternatives or of one kind. Text with a signature within
 * it is not looked for.
 */
export function canTakeApart(message: Buffer): boolean {
  return new Structure(message).shown(0, message.length, 0) !== undefined
}

/** What of a part is read as the message's text. */
type Shown = 'nothing' | 'text/plain' | 'text/html' | 'alternatives'

class Structure {
  readonly #message: Buffer
  readonly #heads = new Heads()
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  /** Undefined: not without loss. */
  shown(start: number, end: number, depth: number): Shown | undefined {
    if (++this.#parts > MOST_PARTS) return undefined
    const head = this.#heads.read(this.#message, start, end)
    const contentType = head && parseField(head.fields, 'content-type', 'text/plain')
    if (!head || !contentType) return undefined
    const { value, parameters } = contentType
    if (CLOSED.test(value) || SEALED.test(value)) return undefined
    if (value === 'text/plain' || value === 'text/html') return shownText(value, head.fields, parameters)
    if (!value.startsWith('multipart/')) return 'nothing'
    const boundary = parameters.get('boundary')
    if (!boundary || boundary.length > 200 || depth >= DEEPEST) return undefined
    const kinds = new Set<Shown>()
    for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
      const shown = this.shown(inner.start, inner.end, depth + 1)
      if (shown === undefined) return undefined
      if (shown !== 'nothing') kinds.add(shown)
    }
    const [kind = 'nothing', other] = kinds
    if (!other) return kind
    // Of a text above an HTML each would be all there is for some readers.
    return value === 'multipart/alternative' ? 'alternatives' : undefined
  }
}

function shownText(
  type: 'text/plain' | 'text/html',
  fields: readonly PartField[],
  parameters: ReadonlyMap<string, string>,
): Shown | undefined {
  const disposition = parseField(fields, 'content-disposition', 'inline')
  if (!disposition) return undefined
  if (disposition.value !== 'inline') return 'nothing'
  // A file that is shown within the text would lose its name.
  return isAttachment(fields, parameters) ? undefined : type
}
