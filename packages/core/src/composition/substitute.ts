import { prepareSections, type Sections, type Substitutions } from '../content/substitution/sections.ts'
import { createSubstituter, type Substituter } from '../content/substitution/substitutions.ts'

export type Fill = (text: string) => string

interface Kept {
  readonly sections: Sections
  readonly keys: string
  readonly substituter: Substituter
}

/** Messages whose keys are kept ready, at three megabytes each at most. */
const MOST_KEPT = 16

/** The last one of each message: its recipients have the same keys, as a rule. */
const kept = new WeakMap<WeakKey, Kept>()
/** Those that are kept, the oldest first. */
const recent: WeakRef<WeakKey>[] = []

/** What puts in the values of one recipient: the keys that are looked for are his own, whatever the others have. */
export function substituterFor(message: { readonly sections?: Substitutions }, values: Substitutions): Substituter {
  const own = Object.keys(values)
  const keys = JSON.stringify(own)
  const before = kept.get(message)
  if (before?.keys === keys) return before.substituter
  const sections = before?.sections ?? prepareSections(message.sections)
  const substituter = createSubstituter(own, sections)
  if (!before) keep(message)
  kept.set(message, { sections, keys, substituter })
  return substituter
}

function keep(message: WeakKey): void {
  recent.push(new WeakRef(message))
  if (recent.length <= MOST_KEPT) return
  const oldest = recent.shift()?.deref()
  if (oldest) kept.delete(oldest)
}
