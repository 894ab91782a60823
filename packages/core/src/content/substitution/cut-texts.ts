/** A text cut at the keys that stand in it: every second piece, from the first, is text; the others are keys. */
export type CutText = readonly string[]

/** Pieces of a text that is kept cut: a text of more is cut again each time, since each piece costs some forty octets. */
export const MOST_PIECES = 1000
/** A message has a handful of texts: subject, bodies, reply address. */
const MOST_TEXTS = 8
/** Characters of those that are kept. */
const LONGEST = 256 * 1024

/** The texts of a message as they were cut for the last recipients. */
export class CutTexts {
  readonly #cuts = new Map<string, CutText>()

  find(text: string): CutText | undefined {
    return text.length > LONGEST ? undefined : this.#cuts.get(text)
  }

  keep(text: string, cut: CutText | undefined): void {
    if (!cut || text.length > LONGEST) return
    if (this.#cuts.size >= MOST_TEXTS) this.#cuts.clear()
    this.#cuts.set(text, cut)
  }
}
