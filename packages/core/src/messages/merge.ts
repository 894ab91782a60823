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
  return text.replace(TAG, (_tag, name: string) => {
    if (Object.hasOwn(attributes, name)) return attributes[name] ?? ''
    folded ??= new Map(Object.entries(attributes).map(([key, value]) => [key.toLowerCase(), value]))
    return folded.get(name.toLowerCase()) ?? ''
  })
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
