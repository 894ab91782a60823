import { prepareSections, type Sections, type Substitutions } from '../content/substitution/sections.ts'
import { createSubstituter, type Substituter } from '../content/substitution/substitutions.ts'

export type Fill = (text: string) => string

interface Cached {
  readonly sections: Sections
  readonly keys: string
  readonly substituter: Substituter
}

/** Maximum number of messages whose substituters are cached, at up to three megabytes each. */
const MAX_CACHED = 16

/** The last substituter of each message, because its recipients usually have the same keys. */
const cached = new WeakMap<WeakKey, Cached>()
/** The cached messages, oldest first. */
const recent: WeakRef<WeakKey>[] = []

/** Returns the substituter of one recipient, which replaces only the recipient's own keys. */
export function substituterFor(message: { readonly sections?: Substitutions }, values: Substitutions): Substituter {
  const own = Object.keys(values)
  const keys = JSON.stringify(own)
  const before = cached.get(message)
  if (before?.keys === keys) return before.substituter
  const sections = before?.sections ?? prepareSections(message.sections)
  const substituter = createSubstituter(own, sections)
  if (!before) remember(message)
  cached.set(message, { sections, keys, substituter })
  return substituter
}

function remember(message: WeakKey): void {
  recent.push(new WeakRef(message))
  if (recent.length <= MAX_CACHED) return
  const oldest = recent.shift()?.deref()
  if (oldest) cached.delete(oldest)
}
