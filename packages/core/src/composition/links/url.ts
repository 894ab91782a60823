/** Characters of a URL that is tracked; its token has a third more, and must fit into a request's first line. */
const LONGEST = 4096

/**
 * The URL as it is sealed: as the sender wrote it where it can stand in a Location field, else in its escaped form. Undefined when
 * it is not one to be tracked: another scheme, relative, malformed, or too long.
 */
export function trackableUrl(written: string): string | undefined {
  if (written.length > 2 * LONGEST) return undefined
  // As readers do: blanks around it and line ends within it don't count (WHATWG URL 4.4).
  const url = written.trim().replace(/[\t\r\n]/g, '')
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  const plain = /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href
  return plain.length > LONGEST ? undefined : plain
}
