import { UNSUBSCRIBE_TAG } from '../tracking/plan.ts'

/**
 * Merge tags (contract section 5.1): `[%NAME%]`, spaces inside allowed; exact name first, then whatever the case; a missing
 * attribute is empty; values go in as they are and are not expanded again.
 */
const TAG = /\[%\s*([A-Za-z0-9_.-]+)\s*%\]/g

export type Attributes = Readonly<Record<string, string>>

export function hasMergeTags(text: string): boolean {
  return text.includes('[%')
}

export function renderMergeTags(text: string, attributes: Attributes): string {
  if (!hasMergeTags(text)) return text
  let folded: Map<string, string> | undefined
  const valueFor = (name: string): string => {
    if (Object.hasOwn(attributes, name)) return attributes[name] ?? ''
    folded ??= new Map(Object.entries(attributes).map(([key, value]) => [key.toLowerCase(), value]))
    return folded.get(name.toLowerCase()) ?? ''
  }
  return text.length > LONG ? merged(text, valueFor) : text.replace(TAG, (_tag, name: string) => valueFor(name))
}

/** Characters of a text above which its tags are not replaced by one expression: the tags of 28 MB took more than 512 MB. */
const LONG = 1024 * 1024
/** Pieces of text that are put together at a time. */
const PIECES = 4096

function merged(text: string, valueFor: (name: string) => string): string {
  let out = ''
  let pieces: string[] = []
  let at = 0
  for (const { 0: tag, 1: name = '', index } of text.matchAll(TAG)) {
    pieces.push(text.slice(at, index), valueFor(name))
    at = index + tag.length
    if (pieces.length < PIECES) continue
    out += pieces.join('')
    pieces = []
  }
  return out + pieces.join('') + text.slice(at)
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

/** How often each name stands in the text, in lower case. */
export function countMergeTags(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  if (!hasMergeTags(text)) return counts
  for (const [, name = ''] of text.matchAll(TAG)) {
    const key = name.toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** The names of tags no attribute is there for, each once whatever its case, as first written. */
export function tagsWithout(texts: readonly string[], attributes: Attributes): string[] {
  const given = new Set(Object.keys(attributes).map((name) => name.toLowerCase()))
  const missing = new Map<string, string>()
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(TAG)) {
      const key = name.toLowerCase()
      if (!given.has(key) && !missing.has(key)) missing.set(key, name)
    }
  }
  return [...missing.values()]
}

/**
 * At most this many characters go in for the tags, told without putting them in: a small text of many tags and one long value
 * make gigabytes. Takes as long as there are attributes, however many tags.
 */
export function mergedLength(counts: ReadonlyMap<string, number>, attributes: Attributes): number {
  let length = 0
  if (counts.size === 0) return length
  for (const [name, value] of Object.entries(attributes)) length += (counts.get(name.toLowerCase()) ?? 0) * value.length
  return length
}
