/**
 * Removes the quotation marks around a name. Older official clients, StrongGrid and anymail add them if the name contains `,` or
 * `;`, some without escaping the content. The service does its own quoting.
 */
export function withoutQuotes(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length < 2 || !trimmed.startsWith('"') || !trimmed.endsWith('"')) return trimmed
  const inside = trimmed.slice(1, -1)
  const bare = /(?<!\\)"/.exec(inside)
  // RFC 5322 3.2.4.
  if (!bare) return inside.replace(/\\(.)/g, '$1').trim()
  // In `"Ada" and "Bo"` this quotation mark closes a pair that does not enclose the name; in `"Ek, "Bo""` it opens an inner one.
  return bare.index > 0 && inside[bare.index - 1] !== ' ' ? trimmed : inside.trim()
}
