import { endOfName, parseAddress } from '@postrider/core'

export interface Mailbox {
  /** The bare address, or the text as written if it contains none, for core's rules to reject. */
  readonly address: string
  /** Display name; empty if there is none. */
  readonly name: string
}

/** Longer texts contain no deliverable address. */
const MAX_LENGTH = 512

/** Parses `Name <a@x>`, `"Name" <a@x>` or a bare address (RFC 5322 3.4). */
export function parseMailbox(written: string): Mailbox {
  const text = written.trim()
  const open = text.lastIndexOf('<')
  if (open === -1 || !text.endsWith('>') || text.length > MAX_LENGTH || breaks(written)) {
    return { address: written, name: '' }
  }
  const address = text.slice(open + 1, -1).trim()
  const name = nameOf(text.slice(0, open).trim(), address)
  return name === undefined || !parseAddress(address) ? { address: written, name: '' } : { address, name }
}

/**
 * Returns undefined if the text could be another address, since the intended one is then unknown. A quoted name may be anything.
 */
function nameOf(text: string, address: string): string | undefined {
  if (text.length > 1 && text.startsWith('"') && text.endsWith('"')) {
    return endOfQuotes(text, 0, text.length - 1) === text.length - 1
      ? text.slice(1, -1).replace(/\\(.)/g, '$1')
      : undefined
  }
  const isClear = !/[<>"]/.test(text) && (!text.includes('@') || text.toLowerCase() === address.toLowerCase())
  return isClear ? text : undefined
}

/** Characters that core rejects with the name of the parameter. */
function breaks(text: string): boolean {
  return /[\r\n\0]/.test(text) || !text.isWellFormed()
}

/**
 * Splits text at the commas outside quotes, but into no more than `most` + 1 entries: 30 MB of commas would become millions. A comma in a name without
 * quotes, `Doe, John <a@x>`, is none if there is no `@` before it: an address of this API has one.
 */
export function splitMailboxes(text: string, most: number): string[] {
  const pieces: string[] = []
  let start = 0
  // A quote without a closing one is an ordinary character.
  const lastQuote = text.lastIndexOf('"')
  for (let at = 0; at < text.length && pieces.length <= most; at++) {
    const char = text[at]
    // Within a word it is an inch mark or part of a name.
    const opens = char === '"' && (at === start || text[at - 1] === ' ')
    if (opens && at < lastQuote) at = endOfQuotes(text, at, lastQuote)
    else if (char === ',') {
      const open = isNameOnly(text.slice(start, Math.min(at, start + MAX_LENGTH))) ? endOfName(text, at + 1) : -1
      if (open !== -1) at = open
      else {
        pieces.push(text.slice(start, at))
        start = at + 1
      }
    }
  }
  if (pieces.length <= most) pieces.push(text.slice(start))
  return pieces
}

function isNameOnly(text: string): boolean {
  return text.trim() !== '' && !/[@<>"]/.test(text)
}

function endOfQuotes(text: string, start: number, last: number): number {
  for (let at = start + 1; at < last; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return last
}
