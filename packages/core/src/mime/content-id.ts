/** What follows `cid:` in HTML, up to whatever may end it. */
const NAMED = /\bcid:([^"'<>)]{1,512})/gi

/** The ids of parts that HTML shows, in lower case. They may be escaped there (RFC 2392 2). */
export function contentIdsIn(html: string): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const [, written = ''] of html.matchAll(NAMED)) {
    // Without quotes a blank ends it.
    for (const id of [written, written.split(/\s/, 1)[0] ?? '']) {
      const plain = id.replaceAll('&amp;', '&').toLowerCase()
      ids.add(plain).add(unescaped(plain))
    }
  }
  return ids
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
