import { type CutText, KeyFinder } from './key-finder.ts'

/** Keys with their delimiters and what goes in for them, as one recipient has them. */
export type Substitutions = Readonly<Record<string, string>>

/** Characters a text may grow to. */
const MOST = 10 * 1024 * 1024
/** Characters of values and sections that are looked through for one text: sections of empty sections grow no text. */
const MOST_SEARCHED = 2 * 1024 * 1024
/** Values, sections and what stands in those. */
const DEEPEST = 4

export interface Substituter {
  /**
   * The text with every complete key replaced by the recipient's value; a key without a value stays. Undefined when it would
   * grow beyond 10 MB, or its sections take too long.
   */
  substitute(text: string, values: Substitutions): string | undefined
}

/**
 * Makes what puts in substitutions (contract 2.8): literal and case-sensitive, from left to right, the longest key first, in one
 * pass: a value is not looked through again, but for section tags. A section's text may hold keys and section tags, to a depth
 * of four. `keys` are those of all recipients; texts are cut once for all of them.
 */
export function createSubstituter(keys: Iterable<string>, sections: Substitutions = {}): Substituter {
  const known = new Map(Object.entries(sections))
  const names = new Set(keys)
  const finder = new KeyFinder(names)
  const sectionFinder = known.size > 0 ? new KeyFinder(known.keys()) : undefined
  const bothFinder = known.size > 0 ? new KeyFinder([...names, ...known.keys()]) : undefined
  const cuts = new Map<string, CutText>()

  function cutOf(text: string): CutText {
    let cut = cuts.get(text)
    if (!cut) {
      // A message has a handful of texts: subject, bodies, reply address.
      if (cuts.size >= 8) cuts.clear()
      cut = finder.cut(text)
      cuts.set(text, cut)
    }
    return cut
  }

  return {
    substitute(text, values) {
      const filling = new Filling(values, known, sectionFinder, bothFinder)
      filling.cut(cutOf(text), 0)
      return filling.text
    },
  }
}

/** One text becoming one recipient's. */
class Filling {
  readonly #values: Substitutions
  readonly #sections: ReadonlyMap<string, string>
  readonly #inValues: KeyFinder | undefined
  readonly #inSections: KeyFinder | undefined
  #text = ''
  #searched = 0
  #tooLong = false

  constructor(
    values: Substitutions,
    sections: ReadonlyMap<string, string>,
    inValues: KeyFinder | undefined,
    inSections: KeyFinder | undefined,
  ) {
    this.#values = values
    this.#sections = sections
    this.#inValues = inValues
    this.#inSections = inSections
  }

  get text(): string | undefined {
    return this.#tooLong ? undefined : this.#text
  }

  cut(pieces: CutText, depth: number): void {
    for (const [at, piece] of pieces.entries()) {
      if (this.#tooLong) return
      if (at % 2 === 0) this.#add(piece)
      else this.#key(piece, depth)
    }
  }

  #key(key: string, depth: number): void {
    const section = depth > 0 ? this.#sections.get(key) : undefined
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined
    if (section !== undefined && depth <= DEEPEST && this.#inSections) {
      this.#search(this.#inSections, section, depth)
    } else if (value === undefined || depth > DEEPEST) this.#add(key)
    else if (this.#inValues && depth < DEEPEST) this.#search(this.#inValues, value, depth)
    else this.#add(value)
  }

  #search(finder: KeyFinder, text: string, depth: number): void {
    this.#searched += text.length + 1
    if (this.#searched > MOST_SEARCHED) this.#tooLong = true
    else this.cut(finder.cut(text), depth + 1)
  }

  #add(text: string): void {
    if (this.#text.length + text.length > MOST) this.#tooLong = true
    else this.#text += text
  }
}
