/**
 * A name without the pair of quotation marks around it: older official clients, StrongGrid and anymail add one where the name holds
 * `,` or `;`, some of them without escaping what is inside. The service quotes by itself.
 */
export function withoutQuotes(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length < 2 || !trimmed.startsWith('"') || !trimmed.endsWith('"')) return trimmed
  const inside = trimmed.slice(1, -1)
  const bare = /(?<!\\)"/.exec(inside)
  // RFC 5322 3.2.4.
  if (!bare) return inside.replace(/\\(.)/g, '$1').trim()
  // In `"Ada" and "Bo"` it closes a pair that is not around the name; in `"Ek, "Bo""` it opens one within.
  return bare.index > 0 && inside[bare.index - 1] !== ' ' ? trimmed : inside.trim()
}
