import { parseAddress } from '@postrider/core'

export interface Mailbox {
  /** The bare address; as written where there is none in it, for core's rules to judge. */
  readonly address: string
  /** Empty: none. */
  readonly name: string
}

/** What is longer holds no address that could be delivered to. */
const MOST_CHARACTERS = 512

/** Reads `Name <a@x>`, `"Name" <a@x>` or a bare address (RFC 5322 3.4). */
export function mailboxOf(written: string): Mailbox {
  const text = written.trim()
  const open = text.lastIndexOf('<')
  if (open === -1 || !text.endsWith('>') || text.length > MOST_CHARACTERS || breaks(written)) {
    return { address: written, name: '' }
  }
  const address = text.slice(open + 1, -1).trim()
  const name = nameOf(text.slice(0, open).trim(), address)
  return name === undefined || !parseAddress(address) ? { address: written, name: '' } : { address, name }
}

/** Undefined: it may be another address, and nobody knows which one was meant. In quotes anything is a name. */
function nameOf(text: string, address: string): string | undefined {
  if (text.length > 1 && text.startsWith('"') && text.endsWith('"')) {
    return endOfQuotes(text, 0, text.length - 1) === text.length - 1
      ? text.slice(1, -1).replace(/\\(.)/g, '$1')
      : undefined
  }
  const isClear = !/[<>"]/.test(text) && (!text.includes('@') || text.toLowerCase() === address.toLowerCase())
  return isClear ? text : undefined
}

/** What core refuses with the parameter's name. */
function breaks(text: string): boolean {
  return /[\r\n\0]/.test(text) || !text.isWellFormed()
}

/** Between its commas that stand in no quotes, as far as to tell that there are more than `most`: 30 MB of them would be millions. */
export function splitMailboxes(text: string, most: number): string[] {
  const pieces: string[] = []
  let start = 0
  // A quote that is never closed is one more character.
  const lastQuote = text.lastIndexOf('"')
  for (let at = 0; at < text.length && pieces.length <= most; at++) {
    const char = text[at]
    // Within a word it is an inch, or somebody's name.
    const opens = char === '"' && (at === start || text[at - 1] === ' ')
    if (opens && at < lastQuote) at = endOfQuotes(text, at, lastQuote)
    else if (char === ',') {
      pieces.push(text.slice(start, at))
      start = at + 1
    }
  }
  if (pieces.length <= most) pieces.push(text.slice(start))
  return pieces
}

function endOfQuotes(text: string, start: number, last: number): number {
  for (let at = start + 1; at < last; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return last
}
