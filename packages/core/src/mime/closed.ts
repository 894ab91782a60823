import {
  CLOSED,
  Heads,
  isAttachment,
  MAX_DEPTH,
  MAX_PARTS,
  type PartField,
  parseField,
  partsOf,
  SEALED,
} from './read.ts'

/**
 * Whether the message can be rebuilt from its parts without loss. That requires that no part is signed, encrypted, a
 * report or an embedded message; that the structure is unambiguous; and that its texts are alternatives of each other
 * or of one kind. Signatures within a text (such as inline PGP) are not detected.
 */
export function canTakeApart(message: Buffer): boolean {
  return new Structure(message).shown(0, message.length, 0) !== undefined
}

/** How a part contributes to the message's text. */
type Shown = 'nothing' | 'text/plain' | 'text/html' | 'alternatives'

class Structure {
  readonly #message: Buffer
  readonly #heads = new Heads()
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  /** Undefined if the part cannot be rebuilt without loss. */
  shown(start: number, end: number, depth: number): Shown | undefined {
    if (++this.#parts > MAX_PARTS) return undefined
    const head = this.#heads.read(this.#message, start, end)
    const contentType = head && parseField(head.fields, 'content-type', 'text/plain')
    if (!head || !contentType) return undefined
    const { value, parameters } = contentType
    if (CLOSED.test(value) || SEALED.test(value)) return undefined
    if (value === 'text/plain' || value === 'text/html') return shownText(value, head.fields, parameters)
    if (!value.startsWith('multipart/')) return 'nothing'
    const boundary = parameters.get('boundary')
    if (!boundary || boundary.length > 200 || depth >= MAX_DEPTH) return undefined
    const kinds = new Set<Shown>()
    for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
      const shown = this.shown(inner.start, inner.end, depth + 1)
      if (shown === undefined) return undefined
      if (shown !== 'nothing') kinds.add(shown)
    }
    const [kind = 'nothing', other] = kinds
    if (!other) return kind
    // A text followed by HTML outside multipart/alternative: after rebuilding, some readers would see only one of the
    // two.
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
  // An attachment displayed inline as text would lose its name.
  return isAttachment(fields, parameters) ? undefined : type
}
