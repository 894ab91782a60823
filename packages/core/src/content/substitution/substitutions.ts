import type { Stoppable } from '../../platform/concurrency/turns.ts'
import { CutTexts } from './cut-texts.ts'
import { createFillingBudget, Filling, type FillingBudget } from './filling.ts'
import { KeyFinder } from './key-finder.ts'
import { hasTooMany, prepareSections, type Sections, type Substitutions } from './sections.ts'

/** Maximum characters of a text after substitution. */
const MAX_LENGTH = 10 * 1024 * 1024

export interface Substituter {
  /**
   * Replaces every complete key in the text by the recipient's value; keys without a value are kept. Undefined if the
   * text would exceed 10 MB or the remaining budget, if its sections take too long, or if there are too many keys.
   */
  substitute(text: string, values: Substitutions, budget?: FillingBudget): Stoppable<string | undefined>
}

/**
 * Creates the substituter (v3 contract 2.8): literal and case-sensitive, left to right, longest key first, in one pass.
 * Values are not searched again, except for section tags. A section's text may contain keys and section tags, to a
 * depth of four. `keys` are those of all recipients; a text of ordinary size is split once for all of them.
 */
export function createSubstituter(keys: Iterable<string>, sections: Sections = prepareSections()): Substituter {
  const names = [...keys]
  if (sections.tooMany || hasTooMany(names)) return { substitute: alwaysUndefined }
  const finder = new KeyFinder(names)
  const cuts = new CutTexts()
  return {
    *substitute(text, values, budget = createFillingBudget()) {
      const filling = new Filling({ values, sections, finder, budget, most: MAX_LENGTH })
      const known = cuts.find(text)
      if (known) yield* filling.cut(known)
      else cuts.keep(text, yield* filling.search(text))
      return filling.end()
    },
  }
}

// biome-ignore lint/correctness/useYield: it ends immediately
function* alwaysUndefined(): Stoppable<undefined> {
  return undefined
}
