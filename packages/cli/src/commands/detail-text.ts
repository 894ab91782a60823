/**
 * Returns the fields of an object in words: `tls TLSv1.3, code 250, one click`. A field that is true is its name, one that is false, null or empty is
 * left out, and what is within a field is in parentheses. `--json` has the object itself.
 */
export function detailText(detail: unknown): string {
  if (detail === null || typeof detail !== 'object') return String(detail ?? '')
  if (Array.isArray(detail)) return detail.map(detailText).filter(Boolean).join(' ')
  return Object.entries(detail)
    .map(([name, value]) => fieldText(wordsOf(name), value))
    .filter(Boolean)
    .join(', ')
}

function fieldText(name: string, value: unknown): string {
  if (value === true) return name
  if (value === false) return `no ${name}`
  const text = detailText(value)
  if (text === '') return ''
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? `${name} (${text})` : `${name} ${text}`
}

/** `isPaused` and `senderDomains` as "paused" and "sender domains". */
function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return words.startsWith('is ') ? words.slice('is '.length) : words
}
