import { invalidParameter } from '../platform/errors.ts'
import { atOnce, type Stoppable } from '../platform/threads/turns.ts'
import { UNSUBSCRIBE_TAG } from './links/plan.ts'

/**
 * Merge tags (v2 contract section 5.1): `[%NAME%]`, spaces inside allowed; exact name first, then whatever the case; a missing
 * attribute is empty; values go in as they are and are not expanded again.
 */
const TAG = /\[%\s*([A-Za-z0-9_.-]+)\s*%\]/g

export type Attributes = Readonly<Record<string, string>>

export function hasMergeTags(text: string): boolean {
  return text.includes('[%')
}

/** Of a text that is short, or in a thread of its own; see {@link mergeTags}. */
export function renderMergeTags(text: string, attributes: Attributes): string {
  if (!hasMergeTags(text)) return text
  if (text.length > LONG) return atOnce(mergeTags(text, attributes))
  const values = valuesOf(attributes)
  return text.replace(TAG, (_tag, name: string) => values(name))
}

/** Characters of a text above which its tags are not replaced by one expression: the tags of 28 MB took more than 512 MB. */
const LONG = 1024 * 1024
/** Tags between two looks at the clock, and whose values are put together at a time. */
const STEP = 1024

export function* mergeTags(text: string, attributes: Attributes): Stoppable<string> {
  const values = valuesOf(attributes)
  const chunks: string[] = []
  let pieces: string[] = []
  let from = 0
  for (const { 0: tag, 1: name = '', index } of text.matchAll(TAG)) {
    pieces.push(text.slice(from, index), values(name))
    from = index + tag.length
    if (pieces.length < 2 * STEP) continue
    chunks.push(pieces.join(''))
    pieces = []
    yield
  }
  return [...chunks, ...pieces, text.slice(from)].join('')
}

function valuesOf(attributes: Attributes): (name: string) => string {
  let folded: Map<string, string> | undefined
  return (name) => {
    if (Object.hasOwn(attributes, name)) return attributes[name] ?? ''
    folded ??= new Map(Object.entries(attributes).map(([key, value]) => [key.toLowerCase(), value]))
    return folded.get(name.toLowerCase()) ?? ''
  }
}

/**
 * The attributes with a value for the unsubscribe tag, unless one of them has its name: whoever used that name before for a value of
 * his own goes on doing so. By itself the tag stands for itself, so that it is there still when everything else is merged.
 */
export function withUnsubscribe(attributes: Attributes, value = `[%${UNSUBSCRIBE_TAG}%]`): Attributes {
  const taken = Object.keys(attributes).some((name) => name.toUpperCase() === UNSUBSCRIBE_TAG)
  return taken ? attributes : { ...attributes, [UNSUBSCRIBE_TAG]: value }
}

/**
 * The attributes with what stands in for those that are missing or empty. A tag without an attribute of its exact name takes
 * one of any case, so an empty one must go where another stands in.
 */
export function withDefaults(attributes: Attributes, defaults: Attributes | undefined): Attributes {
  if (!defaults) return attributes
  const standIns = new Set(Object.keys(defaults).map((name) => name.toLowerCase()))
  const given = Object.entries(attributes).filter(([name, value]) => value !== '' || !standIns.has(name.toLowerCase()))
  const names = new Set(given.map(([name]) => name.toLowerCase()))
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()))
  return Object.fromEntries([...given, ...missing])
}

/** The defaults of those tags that stand in a text. */
export function defaultsIn(text: string, defaults: Attributes | undefined): Attributes | undefined {
  if (!defaults || !hasMergeTags(text)) return undefined
  const tags = atOnce(countMergeTags(text))
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => tags.has(name.toLowerCase())))
}

/** Names of the tags of a text, in lower case: as each is first written, and how often. */
export type MergeTags = ReadonlyMap<string, { readonly written: string; readonly times: number }>

/** Different names of one text: 28 MB of tags of different names took 400 MB to count. */
const MOST_NAMES = 100_000

/** Throws parameterInvalid where a text has more different names than are counted. */
export function* countMergeTags(text: string, parameter = 'content'): Stoppable<MergeTags> {
  const counts = new Map<string, { readonly written: string; times: number }>()
  let steps = 0
  if (!hasMergeTags(text)) return counts
  for (const [, name = ''] of text.matchAll(TAG)) {
    const key = name.toLowerCase()
    const known = counts.get(key)
    if (known) known.times++
    else if (counts.size < MOST_NAMES) counts.set(key, { written: name, times: 1 })
    else throw invalidParameter(parameter, `must have at most ${MOST_NAMES} different merge tags`)
    if (++steps % STEP === 0) yield
  }
  return counts
}

/** The names of tags no attribute is there for, each once whatever its case, as first written. */
export function tagsWithout(tags: readonly MergeTags[], attributes: Attributes): string[] {
  const given = new Set(Object.keys(attributes).map((name) => name.toLowerCase()))
  const missing = new Map<string, string>()
  for (const [key, { written }] of tags.flatMap((counts) => [...counts])) {
    if (!given.has(key) && !missing.has(key)) missing.set(key, written)
  }
  return [...missing.values()]
}

/**
 * At most this many characters go in for the tags, told without putting them in: a small text of many tags and one long value
 * make gigabytes. Takes as long as there are attributes, however many tags.
 */
export function mergedLength(counts: MergeTags, attributes: Attributes): number {
  let length = 0
  if (counts.size === 0) return length
  for (const [name, value] of Object.entries(attributes)) {
    length += (counts.get(name.toLowerCase())?.times ?? 0) * value.length
  }
  return length
}
