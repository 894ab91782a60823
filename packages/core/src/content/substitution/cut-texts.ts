/** A text split at the keys in it: elements with an even index are text, the others are keys. */
export type CutText = readonly string[]

/**
 * Maximum pieces of a text that is kept split. A text with more is split again each time, since each piece takes about
 * forty bytes.
 */
export const MAX_PIECES = 1000
/** Maximum number of texts to keep. A message has only a few: subject, bodies, reply address. */
const MAX_TEXTS = 8
/** Maximum characters of a text that is kept. */
const MAX_TEXT_LENGTH = 256 * 1024

/** The texts of a message, as split for earlier recipients. */
export class CutTexts {
  readonly #cuts = new Map<string, CutText>()

  find(text: string): CutText | undefined {
    return text.length > MAX_TEXT_LENGTH ? undefined : this.#cuts.get(text)
  }

  keep(text: string, cut: CutText | undefined): void {
    if (!cut || text.length > MAX_TEXT_LENGTH) return
    if (this.#cuts.size >= MAX_TEXTS) this.#cuts.clear()
    this.#cuts.set(text, cut)
  }
}
