import type { LinkPlace } from './html-links.ts'
import { trackableUrl } from './url.ts'

/** As of HTML. */
const LONGEST = 1024 * 1024
/** What RFC 3986 lets a URL be written in. Each character matches in one way, so that no text takes longer than its length. */
const WRITTEN = /\bhttps?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+/gi
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[' }

/**
 * Finds the URLs of a plain text as a reader makes links of them: without the full stop or the bracket that follows. One that
 * goes on in other letters than ASCII is left alone, since readers do not agree on where it ends.
 *
 * `decode`: as of HTML.
 */
export function findTextLinks(text: string, decode: (raw: string) => string = (raw) => raw): LinkPlace[] {
  if (text.length > LONGEST) return []
  const links: LinkPlace[] = []
  for (const { 0: match, index } of text.matchAll(WRITTEN)) {
    const end = index + match.length
    // Four octets hold a letter in any charset; four characters hold one too.
    if (/^[^\x00-\x7f\p{P}\p{Z}]/u.test(decode(text.slice(end, end + 4)))) continue
    const written = withoutEnd(match)
    const url = trackableUrl(written)
    if (url !== undefined) links.push({ start: index, end: index + written.length, url })
  }
  return links
}

/** Without punctuation that ends the sentence, and brackets that were opened before the URL. */
function withoutEnd(match: string): string {
  let end = match.length
  // How often each bracket stands there, counted once: counting anew for each one at the end would take the square of its length.
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
