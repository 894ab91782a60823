import { KeyFinder } from './key-finder.ts'

/** Keys with their delimiters and what goes in for them, as one recipient has them. */
export type Substitutions = Readonly<Record<string, string>>

/**
 * Keys of one recipient, or section tags of a message (contract row 24), and the UTF-16 units of them all: so many are made ready for
 * a search within some milliseconds. Doors refuse more.
 */
const MOST_KEYS = 10_000
export const MOST_KEY_UNITS = 64 * 1024
export const TOO_MANY_KEYS = 'must have at most 10,000 keys with 65,536 characters in total'

/** Sections of a message, ready to be found. */
export interface Sections {
  readonly texts: ReadonlyMap<string, string>
  /** Undefined: there are none. */
  readonly finder: KeyFinder | undefined
  readonly tooMany: boolean
}

export function prepareSections(sections: Substitutions = {}): Sections {
  const texts = new Map(Object.entries(sections))
  const tooMany = hasTooMany(texts.keys())
  return { texts, finder: texts.size > 0 && !tooMany ? new KeyFinder(texts.keys()) : undefined, tooMany }
}

/** Are there more keys than are looked for? Counts no further than that. */
export function hasTooMany(keys: Iterable<string>): boolean {
  let [count, units] = [0, 0]
  for (const { length } of keys) {
    units += length
    if (++count > MOST_KEYS || units > MOST_KEY_UNITS) return true
  }
  return false
}
