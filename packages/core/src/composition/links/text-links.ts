import type { LinkPlace } from './html-links.ts'
import { trackableUrl } from './url.ts'

/** Maximum length of a text whose links are tracked, as for HTML. */
const MAX_LENGTH = 1024 * 1024
/** URLs in the characters of RFC 3986. Each character can match in only one way, so the time is linear in the length. */
const URLS = /\bhttps?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+/gi
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[' }

/**
 * Finds the URLs of a plain text as mail clients do: without a full stop or bracket that follows. A URL followed by a non-ASCII
 * letter is not tracked, because clients disagree on where it ends.
 *
 * `decode` is as for HTML.
 */
export function findTextLinks(text: string, decode: (raw: string) => string = (raw) => raw): LinkPlace[] {
  if (text.length > MAX_LENGTH) return []
  const links: LinkPlace[] = []
  for (const { 0: match, index } of text.matchAll(URLS)) {
    const end = index + match.length
    // Four bytes contain at least one letter in any charset, as do four characters.
    if (/^[^\x00-\x7f\p{P}\p{Z}]/u.test(decode(text.slice(end, end + 4)))) continue
    const written = withoutEnd(match)
    const url = trackableUrl(written)
    if (url !== undefined) links.push({ start: index, end: index + written.length, url })
  }
  return links
}

/** Returns the URL without punctuation that ends the sentence, and without brackets that were opened before the URL. */
function withoutEnd(match: string): string {
  let end = match.length
  // Brackets are counted only once; counting again for each bracket at the end would take quadratic time.
  const counts = new Map<string, number>()
  for (const char of match.replace(/[^()[\]]/g, '')) counts.set(char, (counts.get(char) ?? 0) + 1)
  for (; end > 0; end--) {
    const char = match[end - 1] as string
    if (/[.,;:!?'*_~]/.test(char)) continue
    const opening = CLOSING[char]
    const count = counts.get(char) ?? 0
    if (opening === undefined || count <= (counts.get(opening) ?? 0)) break
    counts.set(char, count - 1)
  }
  return match.slice(0, end)
}
