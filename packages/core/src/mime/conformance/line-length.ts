/** Characters of a line without its CRLF (RFC 5322 2.1.1, RFC 5321 4.5.3.1.6). */
export const MAX_LINE = 998
const LF = 10

/**
 * Looks for lines beyond {@link MAX_LINE} in text that arrives in chunks. It visits one line end per 998 characters, so a kilobyte takes some
 * ten nanoseconds.
 */
export class LineLengths {
  /** Offset of the last one; -1 if there is none. */
  lastAt = -1
  /** Characters since the last line end, and in all. */
  #open = 0
  #length = 0

  /** `text` has one character per octet. */
  add(text: string): void {
    let start = -this.#open
    for (let most = start + MAX_LINE + 1; most < text.length; most = start + MAX_LINE + 1) {
      let end = most < 0 ? -1 : text.lastIndexOf('\n', most)
      if (end < Math.max(start, 0)) {
        this.lastAt = this.#length + start
        end = text.indexOf('\n', Math.max(most, 0))
        if (end === -1) break
      }
      start = end + 1
    }
    const last = text.lastIndexOf('\n')
    this.#open = last === -1 ? this.#open + text.length : text.length - last - 1
    this.#length += text.length
  }
}

/** Returns the number of the first line between these offsets that is too long, from 1; 0 if there is none. */
export function longLineIn(octets: Buffer, start: number, end: number): number {
  let from = start
  while (end - from > MAX_LINE) {
    const at = octets.lastIndexOf(LF, Math.min(from + MAX_LINE + 1, end - 1))
    // The last line may lack its CRLF.
    if (at < from) return 1 + lineEndsIn(octets, start, from)
    from = at + 1
  }
  return 0
}

function lineEndsIn(octets: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = octets.indexOf(LF, start); at !== -1 && at < end; at = octets.indexOf(LF, at + 1)) count++
  return count
}
