import { createSubstituter, type Substituter, type Substitutions } from '../templates/substitutions.ts'

export type Fill = (text: string) => string

interface Kept {
  readonly keys: string
  readonly substituter: Substituter
}

/** The last one of each message: its recipients have the same keys, as a rule. */
const kept = new WeakMap<WeakKey, Kept>()

/** What puts in the values of one recipient: the keys that are looked for are his own, whatever the others have. */
export function substituterFor(message: { readonly sections?: Substitutions }, values: Substitutions): Substituter {
  const own = Object.keys(values)
  const keys = JSON.stringify(own)
  const before = kept.get(message)
  if (before?.keys === keys) return before.substituter
  const substituter = createSubstituter(own, message.sections)
  kept.set(message, { keys, substituter })
  return substituter
}
