const MIN_CHARACTERS = 4
const MAX_LENGTH = 200
const MAX_STARS = 5

/** A reply as rules compare it. */
export interface PreparedReply {
  /** Lower case. */
  readonly text: string
  /** The reply's enhanced status codes (RFC 3463). */
  readonly codes: readonly string[]
}

/** An enhanced code at the beginning of the text or after an opening bracket, as servers write it that do not follow RFC 2034. */
const CODE_IN_TEXT = /(?:^|[[(#])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/g
/** Bounds the search in a text of any length: servers that repeat a code do so at the beginning. */
const SEARCHED_FOR_CODES = 1024

const prepared = new WeakMap<object, PreparedReply>()

/** The enhanced code is taken from the text only if the reply has none of its own. A reply is prepared once for all rules. */
export function prepareReply(reply: { readonly enhanced: string; readonly text: string }): PreparedReply {
  let found = prepared.get(reply)
  if (!found) prepared.set(reply, (found = prepare(reply)))
  return found
}

function prepare({ enhanced, text }: { readonly enhanced: string; readonly text: string }): PreparedReply {
  if (enhanced !== '') return { text: text.toLowerCase(), codes: [enhanced] }
  const found = text.slice(0, SEARCHED_FOR_CODES).matchAll(CODE_IN_TEXT)
  return { text: text.toLowerCase(), codes: Array.from(found, ([, code]) => code as string) }
}

/** Returns what is wrong with a pattern, and what to write; undefined if it is valid. */
export function patternProblem(pattern: string): string | undefined {
  const shown = JSON.stringify(pattern.slice(0, MAX_LENGTH))
  if (/\\|^\^|\$$|\.\*/.test(pattern)) {
    return `${shown} looks like a regular expression; patterns are plain text in which * stands for any characters`
  }
  if (pattern.length > MAX_LENGTH) return `a pattern must have at most ${MAX_LENGTH} characters`
  // Replies are stored in one line, so this pattern would never match.
  if (/\p{Cc}/u.test(pattern)) return `${shown} must be one line without control characters`
  if (pattern.split('*').length - 1 > MAX_STARS) return `${shown} must have at most ${MAX_STARS} *`
  if (pattern.replace(/[*\s]/g, '').length < MIN_CHARACTERS) {
    return `${shown} fits too many replies; write at least ${MIN_CHARACTERS} characters besides * and spaces`
  }
  return undefined
}

/** Returns the pattern's pieces between the stars, for {@link fitsPieces}. */
export function piecesOf(pattern: string): readonly string[] {
  return pattern
    .toLowerCase()
    .split('*')
    .filter((piece) => piece !== '')
}

/** Whether the pieces occur in the text in this order. Each is searched once, so the time grows with the length of the text only. */
export function fitsPieces(pieces: readonly string[], text: string): boolean {
  let from = 0
  for (const piece of pieces) {
    const at = text.indexOf(piece, from)
    if (at === -1) return false
    from = at + piece.length
  }
  return true
}
