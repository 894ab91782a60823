import { CONTENT_ONCE } from './twins.ts'

/** Characters of the header of a part that are looked at. */
const MAX_HEAD = 8192
const CONTENT_NAME = /\n(content-[a-z-]{1,40})[ \t]{0,9}:/g
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
    let start = firstDashes(all)
    let end = 0
    while (start !== -1) {
      if (end !== -1 && end < start + 2) end = all.indexOf('\r\n\r\n', start + 2)
      const next = all.indexOf('\r\n--', start + 2)
      const isWhole = end !== -1 || next !== -1 || all.length - start > MAX_HEAD
      if (!isWhole) {
        this.#rest = all.slice(start)
        return
      }
      const until = Math.min(...[end, next].filter((at) => at !== -1), start + MAX_HEAD)
      if (until > start + 2 && isOdd(all.slice(start, until))) this.areOdd = true
      start = next
    }
    this.#rest = /\r(?:\n-?)?$/.exec(all.slice(-3))?.[0] ?? ''
  }
}

/** Looks for the dashes first: each line end is found to be none of such a line at a cost, and a text has fewer dashes. */
function firstDashes(text: string): number {
  const first = text.indexOf('--')
  return first === -1 ? -1 : text.indexOf('\r\n--', Math.max(0, first - 2))
}

function isOdd(head: string): boolean {
  const lower = head.toLowerCase()
  if (!lower.includes('\ncontent-')) return false
  const names = [...lower.matchAll(CONTENT_NAME)]
    .map(([, name]) => name as string)
    .filter((name) => CONTENT_ONCE.has(name))
  return (
    new Set(names).size < names.length ||
    (ENCODED.test(lower) && (COMPOSITE.test(lower) || !names.includes('content-type')))
  )
}
