import { KeyFinder } from './key-finder.ts'

/** A recipient's keys, including delimiters, and the values that replace them. */
export type Substitutions = Readonly<Record<string, string>>

/**
 * Maximum number of keys of a recipient, or of section tags of a message (contract row 24), and of the UTF-16 units of
 * all keys together. Building the finder for this many takes a few milliseconds. Entry points reject more.
 */
const MAX_KEYS = 10_000
export const MAX_KEY_UNITS = 64 * 1024
export const TOO_MANY_KEYS = 'must have at most 10,000 keys with 65,536 characters in total'

/** The sections of a message, prepared for searching. */
export interface Sections {
  readonly texts: ReadonlyMap<string, string>
  /** Undefined if there are no sections. */
  readonly finder: KeyFinder | undefined
  readonly tooMany: boolean
}

export function prepareSections(sections: Substitutions = {}): Sections {
  const texts = new Map(Object.entries(sections))
  const tooMany = hasTooMany(texts.keys())
  return { texts, finder: texts.size > 0 && !tooMany ? new KeyFinder(texts.keys()) : undefined, tooMany }
}

/** Whether there are more keys than allowed. Stops counting at the limit. */
export function hasTooMany(keys: Iterable<string>): boolean {
  let [count, units] = [0, 0]
  for (const { length } of keys) {
    units += length
    if (++count > MAX_KEYS || units > MAX_KEY_UNITS) return true
  }
  return false
}
