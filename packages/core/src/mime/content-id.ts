/** A `cid:` reference in HTML, up to any character that can end it. */
const CID_REFERENCE = /\bcid:([^"'<>)]{1,512})/gi

/** Returns the Content-IDs that HTML refers to, in lower case. References may be percent-encoded (RFC 2392 2). */
export function contentIdsIn(html: string): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const [, written = ''] of html.matchAll(CID_REFERENCE)) {
    // Without quotes, white space ends the attribute.
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
