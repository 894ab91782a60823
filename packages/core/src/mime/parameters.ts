import { isUtf8 } from 'node:buffer'
import { decodeWords } from './words.ts'

/** Maximum continuations of a parameter; RFC 2231 has no limit. */
const MAX_CONTINUATIONS = 100

/**
 * Returns the decoded text of a parameter, written plainly, as encoded words (as many clients do), or with the encoding
 * or continuations of RFC 2231, which take precedence. `parameters` are octets, one character each.
 */
export function parameterText(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  const extended = parameters.get(`${name}*`)
  if (extended !== undefined) return fromContinuations([{ text: extended, encoded: true }])
  const continuations: Continuation[] = []
  for (let number = 0; number < MAX_CONTINUATIONS; number++) {
    const encoded = parameters.get(`${name}*${number}*`)
    const text = encoded ?? parameters.get(`${name}*${number}`)
    if (text === undefined) break
    continuations.push({ text, encoded: encoded !== undefined })
  }
  if (continuations.length > 0) return fromContinuations(continuations)
  const plain = parameters.get(name)
  return plain === undefined ? undefined : decodeWords(fromOctets(plain))
}

interface Continuation {
  readonly text: string
  readonly encoded: boolean
}

/** RFC 2231 4: the first part begins with charset and language. */
function fromContinuations([first, ...others]: readonly Continuation[]): string {
  const { text = '', encoded = false } = first ?? {}
  const [, charset = '', rest = text] = (encoded && /^([^']*)'[^']*'(.*)$/s.exec(text)) || []
  const octets = [{ text: rest, encoded }, ...others]
    .map((part) => (part.encoded ? unescaped(part.text) : part.text))
    .join('')
  return fromOctets(octets, charset)
}

function unescaped(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_written, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Decodes with the given charset, else as UTF-8 if valid, else as Windows-1252, as browsers do without a charset. */
function fromOctets(text: string, charset = ''): string {
  const octets = Buffer.from(text, 'latin1')
  try {
    if (charset !== '') return new TextDecoder(charset).decode(octets)
  } catch {
    // Unknown charset: continue without it.
  }
  return isUtf8(octets) ? octets.toString() : new TextDecoder('windows-1252').decode(octets)
}
