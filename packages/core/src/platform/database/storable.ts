/** The largest integer of Postgres. */
const MAX_INTEGER = 2 ** 31 - 1

/** Returns a text of others as the database takes it: without NUL, and without halves of surrogate pairs, which jsonb refuses. */
export function storableText(text: string): string {
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', ' ').toWellFormed() : text
}

/** The value as JSON that the database takes as jsonb, too, with {@link storableText} for each text. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  // Both are written as escapes, and few others are.
  if (!json.includes('\\u')) return json
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? storableText(part) : part))
}

/** The nearest integer that the database takes. */
export function storableInteger(value: number): number {
  return Number.isNaN(value) ? 0 : Math.max(-MAX_INTEGER, Math.min(MAX_INTEGER, Math.round(value)))
}
