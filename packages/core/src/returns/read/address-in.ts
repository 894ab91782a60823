/** RFC 5321 4.5.3.1, with some characters to spare for addresses outside ASCII. */
const MAX_LOCAL = 128
const MAX_DOMAIN = 255
const BEFORE = /[^\s<>"(),:;[\]@]/
const AFTER = /[\p{L}\p{N}\p{M}._-]/u

/** Returns the first address in a text; undefined if there is none. The address is not validated. */
export function addressIn(text: string): string | undefined {
  return locateAddress(text)?.address
}

/** An address and its position. */
export interface LocatedAddress {
  readonly address: string
  readonly start: number
  readonly end: number
}

/** Returns the first address that ends after `from`; undefined if there is none. */
export function locateAddress(text: string, from = 0): LocatedAddress | undefined {
  for (let at = text.indexOf('@', from); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > 0 && at - start < MAX_LOCAL && BEFORE.test(text[start - 1] as string)) start--
    if (start === at) continue
    let end = at + 1
    while (end < text.length && end - at <= MAX_DOMAIN && AFTER.test(text[end] as string)) end++
    while (end > at && /[._-]/.test(text[end - 1] as string)) end--
    if (end > at + 1) return { address: text.slice(start, end), start, end }
  }
  return undefined
}

/** A line that begins with an address, possibly in brackets or quotation marks. */
export interface AddressLine {
  readonly address: string
  /** Number of spaces before the address. */
  readonly indent: number
  /** The rest of the line, without colon. */
  readonly rest: string
}

/** Undefined if the line begins with something else. */
export function addressLine(line: string): AddressLine | undefined {
  const bare = line.trimStart()
  const indent = line.length - bare.length
  const open = /^(?:[*-] )? ?[<"'(]?/.exec(bare)?.[0].length ?? 0
  const found = locateAddress(bare)
  if (found?.start !== open) return undefined
  const rest = bare.slice(found.end)
  if (rest !== '' && !/^[>"')\]:, \t]/.test(rest)) return undefined
  return { address: found.address, indent, rest: rest.replace(/^[>"')]?:?[ \t]{0,100}/, '') }
}
