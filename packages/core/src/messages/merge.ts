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
