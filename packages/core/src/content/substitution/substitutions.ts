import type { Stoppable } from '../../platform/threads/turns.ts'
import { CutTexts } from './cut-texts.ts'
import { Filling, type Room, roomForTexts } from './filling.ts'
import { KeyFinder } from './key-finder.ts'
import { hasTooMany, prepareSections, type Sections, type Substitutions } from './sections.ts'

/** Characters a text may grow to. */
const MOST = 10 * 1024 * 1024

export interface Substituter {
  /**
   * The text with every complete key replaced by the recipient's value; a key without a value stays. Undefined when it would
   * grow beyond 10 MB or beyond the room that is left, when its sections take too long, or when there are more keys than are looked for.
   */
  substitute(text: string, values: Substitutions, room?: Room): Stoppable<string | undefined>
}

/**
 * Makes what puts in substitutions (v3 contract 2.8): literal and case-sensitive, from left to right, the longest key first, in one
 * pass: a value is not looked through again, but for section tags. A section's text may hold keys and section tags, to a depth
 * of four. `keys` are those of all recipients; a text of ordinary size is cut once for all of them.
 */
export function createSubstituter(keys: Iterable<string>, sections: Sections = prepareSections()): Substituter {
  const names = [...keys]
  if (sections.tooMany || hasTooMany(names)) return { substitute: givenUp }
  const finder = new KeyFinder(names)
  const cuts = new CutTexts()
  return {
    *substitute(text, values, room = roomForTexts()) {
      const filling = new Filling({ values, sections, finder, room, most: MOST })
      const known = cuts.find(text)
      if (known) yield* filling.cut(known)
      else cuts.keep(text, yield* filling.search(text))
      return filling.end()
    },
  }
}

// biome-ignore lint/correctness/useYield: it is at its end at once
function* givenUp(): Stoppable<undefined> {
  return undefined
}
