import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

/** A charset in which ASCII is ASCII, so that a text can be worked on as octets. */
export interface Charset {
  /** What these octets, one character each, mean. */
  decode(octets: string): string
  /** The octets of a text, one character each; undefined: not all of it can be said. */
  encode(text: string): string | undefined
}

/** Names as in the WHATWG's Encoding standard. In others, such as Shift_JIS or UTF-16, an ASCII octet may be half a letter. */
const ASCII_BASED = /^(utf-8|iso-8859-\d+|windows-\d+|koi8-[ru])$/

const US_ASCII = /^(us-)?ascii$|^$/i

/**
 * The charset of a text, its octets one character each. Undefined: it is unknown, or not one to be worked on as octets. `name`
 * empty: US-ASCII (RFC 2045 5.2); whoever says no more and writes more than that writes UTF-8, if it can be read so.
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

/** Browsers read Windows-1252 where US-ASCII or ISO 8859-1 is said; what is written keeps to the word. */
function tableOf(decoder: TextDecoder, name: string): Map<string, string> {
  const table = new Map<string, string>()
  const first = US_ASCII.test(name) ? 256 : /8859|latin/i.test(name) ? 160 : 128
  for (let octet = 0; octet < 256; octet++) {
    if (octet >= 128 && octet < first) continue
    table.set(decoder.decode(Uint8Array.of(octet)), String.fromCharCode(octet))
  }
  return table
}
