/** Characters of a URL that may be made longer; as of those that are tracked. */
const LONGEST = 4096

/** The URL with these in its query, before its fragment. A parameter it has already stays as its sender wrote it. */
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
  return longer.length > LONGEST ? url : longer
}
