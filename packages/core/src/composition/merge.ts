import { atOnce, type Stoppable } from '../platform/concurrency/turns.ts'
import { invalidParameter } from '../platform/errors.ts'
import { UNSUBSCRIBE_TAG } from './links/plan.ts'

/**
 * Merge tags (v2 contract section 5.1): `[%NAME%]`, with optional spaces inside. An attribute with the exact name takes precedence
 * over one that differs in case; a missing attribute is empty. Values are inserted unchanged and are not expanded again.
 */
const TAG = /\[%\s*([A-Za-z0-9_.-]+)\s*%\]/g

export type Attributes = Readonly<Record<string, string>>

export function hasMergeTags(text: string): boolean {
  return text.includes('[%')
}

/** Returns the text with its tags replaced. For short texts, or in a separate thread; otherwise see {@link mergeTags}. */
export function renderMergeTags(text: string, attributes: Attributes): string {
  if (!hasMergeTags(text)) return text
  if (text.length > LONG) return atOnce(mergeTags(text, attributes))
  const values = valuesOf(attributes)
  return text.replace(TAG, (_tag, name: string) => values(name))
}

/** Characters above which tags are not replaced by a single `replace`: for 28 MB that took more than 512 MB of memory. */
const LONG = 1024 * 1024
/** Number of tags after which the generators yield and their values are joined. */
const STEP = 1024

/** As {@link renderMergeTags}, for long texts: yields regularly. */
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
 * Returns the attributes with a value for the unsubscribe tag, unless one of them has its name, so that senders who already use
 * the name keep their value. By default the value is the tag itself, which therefore remains after all others are replaced.
 */
export function withUnsubscribe(attributes: Attributes, value = `[%${UNSUBSCRIBE_TAG}%]`): Attributes {
  const taken = Object.keys(attributes).some((name) => name.toUpperCase() === UNSUBSCRIBE_TAG)
  return taken ? attributes : { ...attributes, [UNSUBSCRIBE_TAG]: value }
}

/**
 * Returns the attributes with defaults for those that are missing or empty. Because a tag without an attribute of its exact name
 * matches one that differs in case, an empty attribute is removed if there is a default for it.
 */
export function withDefaults(attributes: Attributes, defaults: Attributes | undefined): Attributes {
  if (!defaults) return attributes
  const withDefault = new Set(Object.keys(defaults).map((name) => name.toLowerCase()))
  const given = Object.entries(attributes).filter(
    ([name, value]) => value !== '' || !withDefault.has(name.toLowerCase()),
  )
  const names = new Set(given.map(([name]) => name.toLowerCase()))
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()))
  return Object.fromEntries([...given, ...missing])
}

/** Returns the defaults of the tags in a text. */
export function defaultsIn(text: string, defaults: Attributes | undefined): Attributes | undefined {
  if (!defaults || !hasMergeTags(text)) return undefined
  const tags = atOnce(countMergeTags(text))
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => tags.has(name.toLowerCase())))
}

/** The tags of a text by their names in lower case: the first spelling of each, and its number of occurrences. */
export type MergeTags = ReadonlyMap<string, { readonly written: string; readonly times: number }>

/** Maximum number of different names in one text: counting 28 MB of tags with different names took 400 MB of memory. */
const MAX_NAMES = 100_000

/** Returns the tags of a text, and yields regularly. Throws parameterInvalid if it has more than 100,000 different names. */
export function* countMergeTags(text: string, parameter = 'content'): Stoppable<MergeTags> {
  const counts = new Map<string, { readonly written: string; times: number }>()
  let steps = 0
  if (!hasMergeTags(text)) return counts
  for (const [, name = ''] of text.matchAll(TAG)) {
    const key = name.toLowerCase()
    const known = counts.get(key)
    if (known) known.times++
    else if (counts.size < MAX_NAMES) counts.set(key, { written: name, times: 1 })
    else throw invalidParameter(parameter, `must have at most ${MAX_NAMES} different merge tags`)
    if (++steps % STEP === 0) yield
  }
  return counts
}

/**
 * Returns the names of tags without an attribute, each once regardless of case, in their first spelling. That of the unsubscribe link is not
 * among them, since the link is its value.
 */
export function tagsWithout(tags: readonly MergeTags[], attributes: Attributes): string[] {
  const given = new Set([UNSUBSCRIBE_TAG, ...Object.keys(attributes)].map((name) => name.toLowerCase()))
  const missing = new Map<string, string>()
  for (const [key, { written }] of tags.flatMap((counts) => [...counts])) {
    if (!given.has(key) && !missing.has(key)) missing.set(key, written)
  }
  return [...missing.values()]
}

/**
 * Returns an upper bound of the characters that replace the tags. It does not build the result, which can have gigabytes if a
 * small text has many tags and a long value. The time depends on the number of attributes, not of tags.
 */
export function mergedLength(counts: MergeTags, attributes: Attributes): number {
  let length = 0
  if (counts.size === 0) return length
  for (const [name, value] of Object.entries(attributes)) {
    length += (counts.get(name.toLowerCase())?.times ?? 0) * value.length
  }
  return length
}
