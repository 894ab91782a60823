import { CONTENT_ONCE } from './twins.ts'

/** Characters of the header of a part that are looked at. */
const MAX_HEAD = 8192
const CONTENT = '\ncontent-'
/** Without a type, it may be a message in a digest (RFC 2046 5.1.5). */
const COMPOSITE = /(?:multipart|message)\//
const ENCODED = /base[ _-]?64|b64|quoted/

/**
 * Looks for headers of parts that may have to be corrected in text that arrives in chunks, one character per octet: for what stands between a line that
 * begins with two dashes and the next empty line. It may find some that need nothing. Takes time linear in the length: without such lines, that of one
 * search.
 */
export class PartHeads {
  areOdd = false
  /** The end of the last chunk: a header, or the beginning of such a line. */
  #rest = ''

  add(text: string): void {
    if (this.areOdd) return
    const all = this.#rest === '' ? text : this.#rest + text
    let start = dashesFrom(all, 0)
    let end = 0
    while (start !== -1) {
      if (end !== -1 && end < start + 2) end = all.indexOf('\r\n\r\n', start + 2)
      const next = dashesFrom(all, start + 2)
      const isWhole = end !== -1 || next !== -1 || all.length - start > MAX_HEAD
      if (!isWhole) {
        this.#rest = all.slice(start)
        return
      }
      const until = Math.min(...[end, next].filter((at) => at !== -1), start + MAX_HEAD)
      // Dashes are usually a rule in a text: what ends with their own line has no header.
      const line = all.indexOf('\r\n', start + 2)
      if (line !== -1 && line < until && isOdd(all.slice(line, until))) this.areOdd = true
      start = next
    }
    this.#rest = /\r(?:\n-?)?$/.exec(all.slice(-3))?.[0] ?? ''
  }
}

/** Dashes elsewhere than at the beginning of a line that are skipped one by one. */
const MAX_SKIPPED = 3

/**
 * Returns the offset of the CRLF before the next line that begins with two dashes, from `from` on; -1 without one. It looks for the dashes first: each
 * line end is found to be none of such a line at a cost (8 µs in 100 kB of base64), and a text has fewer dashes.
 */
function dashesFrom(text: string, from: number): number {
  let at = text.indexOf('--', from)
  for (let skipped = 0; at !== -1; skipped++) {
    if (at >= from + 2 && text.startsWith('\r\n', at - 2)) return at - 2
    if (skipped === MAX_SKIPPED) return text.indexOf('\r\n--', Math.max(from, at - 1))
    at = text.indexOf('--', at + 1)
  }
  return -1
}

function isOdd(head: string): boolean {
  const lower = head.toLowerCase()
  const names: string[] = []
  for (let at = lower.indexOf(CONTENT); at !== -1; at = lower.indexOf(CONTENT, at + CONTENT.length)) {
    const name = lower.slice(at + 1, lower.indexOf(':', at)).trimEnd()
    if (!CONTENT_ONCE.has(name)) continue
    if (names.includes(name)) return true
    names.push(name)
  }
  return names.length > 0 && ENCODED.test(lower) && (!names.includes('content-type') || COMPOSITE.test(lower))
}
