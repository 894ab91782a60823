import { KeyFinder } from './key-finder.ts'

/** Keys with their delimiters and what goes in for them, as one recipient has them. */
export type Substitutions = Readonly<Record<string, string>>

/**
 * UTF-16 units of all keys of one recipient together, and of all section tags of a message: so many are made ready for a search within
 * a few milliseconds. Doors refuse more.
 */
export const MOST_KEY_UNITS = 64 * 1024

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

/** Have the keys more units together than are looked for? Counts no further than that. */
export function hasTooMany(keys: Iterable<string>): boolean {
  let units = 0
  for (const { length } of keys) {
    units += length
    if (units > MOST_KEY_UNITS) return true
  }
  return false
}
