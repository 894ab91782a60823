import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

/** The charset of a text, which is given as octets, one character each. */
export interface Charset {
  /**
   * Whether it is a superset of ASCII, so that a text can be processed as octets. In others, such as Shift_JIS or UTF-16, an ASCII octet can be part
   * of another character: such a text can only be converted.
   */
  readonly isAsciiBased: boolean
  /** Decodes octets as well as possible. */
  decode(octets: string): string
  /** Encodes a text; undefined if a character is not in the charset. */
  encode(text: string): string | undefined
  /** Returns the octets in UTF-8, without byte order mark; undefined if they cannot be decoded without loss. */
  toUtf8(octets: string): string | undefined
}

/** Names of the WHATWG Encoding standard. */
const ASCII_BASED = /^(utf-8|iso-8859-\d+|windows-\d+|koi8-[ru])$/

const US_ASCII = /^(us-)?ascii$|^$/i

/** Names that mail programs and databases use, and the standard lacks. */
const ALIASES: Readonly<Record<string, string>> = {
  utf8mb3: 'utf-8',
  utf8mb4: 'utf-8',
  'utf-8-sig': 'utf-8',
  utf_8: 'utf-8',
  cp932: 'shift_jis',
  cp936: 'gbk',
  ms936: 'gbk',
  cp950: 'big5',
  cp51932: 'euc-jp',
}

/**
 * Returns the charset of a text. Undefined if the name is unknown. An empty `name` means US-ASCII (RFC 2045 5.2). Non-ASCII text labelled as US-ASCII
 * is read as UTF-8 if it is valid UTF-8.
 */
export function charsetOf(name: string, text: string): Charset | undefined {
  const exact = decoderOf(name || 'us-ascii')
  if (exact && ASCII_BASED.test(exact.encoding)) return asciiBased(name, exact, text)
  const encoding = encodingOf(name, text)
  if (encoding === undefined) return undefined
  return {
    isAsciiBased: false,
    decode: (octets) => new TextDecoder(encoding).decode(Buffer.from(octets, 'latin1')),
    encode: utf8,
    toUtf8: (octets) => converted(encoding, octets),
  }
}

function asciiBased(name: string, decoder: TextDecoder, text: string): Charset {
  const reader = US_ASCII.test(name) && isUtf8(Buffer.from(text, 'latin1')) ? new TextDecoder('utf-8') : decoder
  return {
    isAsciiBased: true,
    decode: (octets) => (isAscii(octets) ? octets : reader.decode(Buffer.from(octets, 'latin1'))),
    toUtf8: (octets) => (isAscii(octets) ? octets : converted(reader.encoding, octets)),
    encode(text) {
      if (isAscii(text)) return text
      if (decoder.encoding === 'utf-8') return utf8(text)
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

export const UTF_8: Charset = asciiBased('utf-8', new TextDecoder('utf-8'), '')

/** Comments (RFC 2045 5.1) and the marks that some programs write around a name. */
const AROUND_NAME = /\([^()]*\)|[\s"'`,;<>]/g

/** Returns the standard's name of a charset that is not named in the usual way. */
function encodingOf(name: string, text: string): string | undefined {
  const bare = name.replace(AROUND_NAME, '').toLowerCase()
  const encoding = bare === '' ? undefined : decoderOf(ALIASES[bare] ?? bare)?.encoding
  // Its upper half is private characters, whose meaning only the sender knows.
  if (encoding === 'x-user-defined') return undefined
  if (!/^(utf-16|ucs-2|iso-10646-ucs-2|unicode|csunicode)$/.test(bare)) return encoding
  // Without a mark, readers disagree on the byte order (RFC 2781 4.3).
  return { '\xfe\xff': 'utf-16be', '\xff\xfe': 'utf-16le' }[text.slice(0, 2)]
}

const ONE_OCTET = /^(iso-8859-|windows-|koi8-|macintosh|x-mac-|ibm866)/
/**
 * Characters into which Node's decoders of East Asian charsets turn what they do not know, even if they are fatal: ICU's EUC-KR lacks the syllables of
 * code page 949, and its Big5 those of Hong Kong.
 */
const UNKNOWN = /[\x80-\x9f\ue000-\uf8ff]/

function converted(encoding: string, octets: string): string | undefined {
  // ICU's Shift_JIS exchanges these three with each other, as IBM's code pages do.
  if (encoding === 'shift_jis' && /[\x1a\x1c\x7f]/.test(octets)) return undefined
  let text: string
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(Buffer.from(octets, 'latin1'))
  } catch {
    return undefined
  }
  const isEastAsian = !encoding.startsWith('utf-') && !ONE_OCTET.test(encoding)
  if (isEastAsian && UNKNOWN.test(text)) return undefined
  return utf8(text.startsWith('\ufeff') ? text.slice(1) : text)
}

/** A decoder that reads octets as well as possible. */
export type Decoder = Pick<TextDecoder, 'decode' | 'encoding'>

/** Returns the decoder of a charset, by the names that mail programs use; undefined if the name is unknown. */
export function decoderNamed(name: string): Decoder | undefined {
  const bare = name.replace(AROUND_NAME, '').toLowerCase()
  if (bare === 'hz-gb-2312') return HZ
  if (bare === 'iso-2022-kr' || bare === 'csiso2022kr') return ISO_2022_KR
  // Its upper half is private characters, whose meaning only the sender knows.
  if (bare === '' || bare === 'x-user-defined') return undefined
  return decoderOf(ALIASES[bare] ?? bare)
}

/** Simplified Chinese in seven bits (RFC 1843), which the standard lacks. */
const HZ: Decoder = { encoding: 'hz-gb-2312', decode: (octets) => fromHz(Buffer.from(octets as Uint8Array)) }

function fromHz(octets: Buffer): string {
  const [tilde, open, close] = [126, 123, 125]
  const out = Buffer.alloc(octets.length)
  let length = 0
  let isShifted = false
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] as number
    const next = octets[at + 1]
    if (octet === 10) isShifted = false
    if (octet === tilde && next === (isShifted ? close : open)) {
      isShifted = !isShifted
      at++
    } else if (isShifted && octet > 32 && octet < 120 && next !== undefined && next > 32 && next < 127) {
      out[length++] = octet | 128
      out[length++] = next | 128
      at++
    } else if (octet === tilde && !isShifted && (next === 10 || (next === 13 && octets[at + 2] === 10))) {
      at += next === 10 ? 1 : 2
    } else {
      if (octet === tilde && next === tilde) at++
      out[length++] = octet
    }
  }
  return new TextDecoder('gbk').decode(out.subarray(0, length))
}

/** Returns the text in UTF-8, one character per octet. */
function utf8(text: string): string {
  return isAscii(text) ? text : Buffer.from(text).toString('latin1')
}

/** Korean in seven bits (RFC 1557), which the standard lacks on purpose: browsers could be misled by it. */
const ISO_2022_KR: Decoder = {
  encoding: 'iso-2022-kr',
  decode: (octets) => fromIso2022Kr(Buffer.from(octets as Uint8Array)),
}

function fromIso2022Kr(octets: Buffer): string {
  const pieces = octets.toString('latin1').replaceAll('\x1b$)C', '').split('\x0e')
  const text = pieces.map((piece, at) => {
    if (at === 0) return piece.replaceAll('\x0f', '')
    const [shifted = '', ...rest] = piece.split('\x0f')
    const korean = Buffer.from(shifted, 'latin1').map((octet) => (octet > 32 ? octet | 128 : octet))
    return Buffer.from(korean).toString('latin1') + rest.join('')
  })
  return new TextDecoder('euc-kr').decode(Buffer.from(text.join(''), 'latin1'))
}

function decoderOf(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name)
  } catch {
    return undefined
  }
}

/** Whether text, or octets as one character each, is ASCII. */
export function isAscii(text: string): boolean {
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
