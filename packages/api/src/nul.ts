/**
 * Where NUL stands in what a client gave: the database takes every text but that one, so it is refused for all operations at once,
 * whatever they do with it. Mail has rules of its own (core's field-rules.ts): its content may hold any octet. A name that holds
 * NUL is told by the place of its object. Undefined: nowhere.
 */
export function placeOfNul(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? [] : undefined
  // Octets of files are no text.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined
  for (const [name, member] of Object.entries(value)) {
    if (name.includes('\0')) return []
    const inside = placeOfNul(member)
    if (inside) return [name, ...inside]
  }
  return undefined
}

export const NO_NUL = 'must not contain NUL'
