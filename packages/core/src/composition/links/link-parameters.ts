/** Maximum length of a URL with its parameters, as for tracked URLs. */
const MAX_LENGTH = 4096

/**
 * Returns the URL with the parameters added to its query. Parameters that it already has are unchanged, as is a URL that would
 * become too long.
 */
export function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const hash = url.indexOf('#')
  const [address, fragment] = hash === -1 ? [url, ''] : [url.slice(0, hash), url.slice(hash)]
  const mark = address.indexOf('?')
  const query = mark === -1 ? '' : address.slice(mark + 1)
  const known = new URLSearchParams(query)
  const added = Object.entries(parameters)
    .filter(([name]) => !known.has(name))
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
  if (added === '') return url
  const joint = mark === -1 ? '?' : query === '' || query.endsWith('&') ? '' : '&'
  const longer = `${address}${joint}${added}${fragment}`
  return longer.length > MAX_LENGTH ? url : longer
}
