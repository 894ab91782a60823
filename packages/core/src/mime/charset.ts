import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

/** A charset that is a superset of ASCII, so that a text can be processed as octets. */
export interface Charset {
  /** Decodes octets, given as one character each. */
  decode(octets: string): string
  /** Encodes a text as octets, one character each; undefined if a character is not in the charset. */
  encode(text: string): string | undefined
}

/**
 * Names of the WHATWG Encoding standard. In other charsets, such as Shift_JIS or UTF-16, an ASCII octet can be part of
 * another character.
 */
const ASCII_BASED = /^(utf-8|iso-8859-\d+|windows-\d+|koi8-[ru])$/

const US_ASCII = /^(us-)?ascii$|^$/i

/**
 * Returns the charset of a text, given as octets, one character each. Undefined if the name is unknown or the charset
 * cannot be processed as octets. An empty `name` means US-ASCII (RFC 2045 5.2). Non-ASCII text labelled as US-ASCII is
 * read as UTF-8 if it is valid UTF-8.
 */
export function charsetOf(name: string, text: string): Charset | undefined {
  const decoder = decoderOf(name || 'us-ascii')
  if (!decoder || !ASCII_BASED.test(decoder.encoding)) return undefined
  const reader = US_ASCII.test(name) && isUtf8(Buffer.from(text, 'latin1')) ? new TextDecoder('utf-8') : decoder
  return {
    decode: (octets) => (isAscii(octets) ? octets : reader.decode(Buffer.from(octets, 'latin1'))),
    encode(text) {
      if (isAscii(text)) return text
      if (decoder.encoding === 'utf-8') return Buffer.from(text).toString('latin1')
      const table = tableOf(decoder, name)
      let octets = ''
      for (const letter of text) {
        const octet = table.get(letter)
        if (octet === undefined) return undefined
        octets += octet
      }
      return octets
    },
  }
}

function decoderOf(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name)
  } catch {
    return undefined
  }
}

function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text)
}

/**
 * Maps characters to octets. Decoders read US-ASCII and ISO 8859-1 as Windows-1252; encoding uses only the octets of
 * the named charset.
 */
function tableOf(decoder: TextDecoder, name: string): Map<string, string> {
  const table = new Map<string, string>()
  const first = US_ASCII.test(name) ? 256 : /8859|latin/i.test(name) ? 160 : 128
  for (let octet = 0; octet < 256; octet++) {
    if (octet >= 128 && octet < first) continue
    table.set(decoder.decode(Uint8Array.of(octet)), String.fromCharCode(octet))
  }
  return table
}
