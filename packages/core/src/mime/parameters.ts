import { isUtf8 } from 'node:buffer'
import { decodeWords } from './words.ts'

/** Pieces of one parameter; RFC 2231 has no bound. */
const MOST_PIECES = 100

/**
 * A parameter as a reader is shown it, whichever way it was written: as it is, in encoded words as many clients do, in the
 * encoding or the pieces of RFC 2231, which win. `parameters` are octets, one character each.
 */
export function parameterText(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  const extended = parameters.get(`${name}*`)
  if (extended !== undefined) return fromPieces([{ text: extended, encoded: true }])
  const pieces: Piece[] = []
  for (let number = 0; number < MOST_PIECES; number++) {
    const encoded = parameters.get(`${name}*${number}*`)
    const text = encoded ?? parameters.get(`${name}*${number}`)
    if (text === undefined) break
    pieces.push({ text, encoded: encoded !== undefined })
  }
  if (pieces.length > 0) return fromPieces(pieces)
  const plain = parameters.get(name)
  return plain === undefined ? undefined : decodeWords(fromOctets(plain))
}

interface Piece {
  readonly text: string
  readonly encoded: boolean
}

/** RFC 2231 4: the first piece begins with charset and language. */
function fromPieces([first, ...others]: readonly Piece[]): string {
  const { text = '', encoded = false } = first ?? {}
  const [, charset = '', rest = text] = (encoded && /^([^']*)'[^']*'(.*)$/s.exec(text)) || []
  const octets = [{ text: rest, encoded }, ...others]
    .map((piece) => (piece.encoded ? unescaped(piece.text) : piece.text))
    .join('')
  return fromOctets(octets, charset)
}

function unescaped(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_written, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** In the charset it says, else in UTF-8 if it can be, else as browsers read what says nothing. */
function fromOctets(text: string, charset = ''): string {
  const octets = Buffer.from(text, 'latin1')
  try {
    if (charset !== '') return new TextDecoder(charset).decode(octets)
  } catch {
    // Nobody knows it.
  }
  return isUtf8(octets) ? octets.toString() : new TextDecoder('windows-1252').decode(octets)
}
