/** Bounds of a header: what a browser sends has some 50 characters. */
const MAX_LENGTH = 500
const MAX_RANGES = 20

/**
 * Returns the offered language that Accept-Language prefers (RFC 9110 12.5.4): the one with the highest quality, then the first. `de-AT` finds
 * `de`. Without a match, the first offered one. What cannot be read is ignored.
 */
export function preferredLanguage<L extends string>(header: string | undefined, offered: readonly [L, ...L[]]): L {
  let best: L = offered[0]
  let highest = 0
  for (const range of (header ?? '').slice(0, MAX_LENGTH).toLowerCase().split(',', MAX_RANGES)) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const found = tag === '*' ? offered[0] : offered.find((language) => language === tag.split('-', 1)[0])
    const quality = qualityOf(parameters)
    if (found === undefined || quality <= highest) continue
    best = found
    highest = quality
  }
  return best
}

/** 0 to 1; 0 if it is malformed. */
function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((one) => one.startsWith('q='))
  if (given === undefined) return 1
  return /^q=[01](?:\.\d{0,3})?$/.test(given) ? Math.min(1, Number(given.slice(2))) : 0
}
