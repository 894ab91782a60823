/**
 * Returns the path of the first NUL in a client's input, or undefined. Postgres accepts any text but NUL, so NUL is rejected for
 * all operations in one place. Messages have rules of their own (core's field-rules.ts), since their content may contain any
 * byte. A name that contains NUL is reported by the path of its object.
 */
export function placeOfNul(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.includes('\0') ? [] : undefined
  // The bytes of a file are not text.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined
  for (const [name, member] of Object.entries(value)) {
    if (name.includes('\0')) return []
    const inside = placeOfNul(member)
    if (inside) return [name, ...inside]
  }
  return undefined
}

export const NO_NUL = 'must not contain NUL'
