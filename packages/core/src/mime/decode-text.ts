import { isAscii, isUtf8 } from 'node:buffer'
import { type Decoder, decoderNamed } from './charset.ts'

/** Charsets that say no more than that the text is text: nearly all mislabelled mail has one of them, or none. */
const PLAIN = /^(?:(?:us-)?ascii|utf-?8)?$/i
const UTF_8_MARK = Buffer.from('\ufeff')
/** The sequences that begin Japanese characters (RFC 1468, RFC 1554). */
const JAPANESE = /\x1b\$(?:[@B]|\(D)/
const [DECODE_UTF_8, DECODE_WINDOWS] = [new TextDecoder('utf-8'), new TextDecoder('windows-1252')]
/** Octets of HTML in which its charset is looked for. Browsers look at a quarter of it. */
const MAX_HEAD = 4096

/** Whether a charset has to be guessed even if its name is known. */
export function isPlain(name: string): boolean {
  return PLAIN.test(name)
}

/** Whether a text without a charset is what it seems to be: ASCII without escape sequences, or UTF-8 without a byte order mark. */
export function isPlainText(octets: Buffer): boolean {
  return isAscii(octets) ? !isJapanese(octets) : isUtf8(octets) && !octets.subarray(0, 3).equals(UTF_8_MARK)
}

/**
 * Decodes a text as mail programs do. A byte order mark precedes the charset's name. If that is missing, unknown or obviously incorrect, the text
 * is read as ISO-2022-JP if it has its escape sequences, as UTF-8 if it is mostly valid, in the charset that its HTML declares, or as Windows-1252.
 */
export function decodeText(octets: Buffer, name: string, { isHtml = false } = {}): string {
  const known = isPlain(name) ? undefined : decoderNamed(name)
  return (markedDecoder(octets, known) ?? known ?? guessedDecoder(octets, isHtml)).decode(octets)
}

/** In a known charset of one octet per character, the marks of UTF-16 are letters. */
function markedDecoder(octets: Buffer, known: Decoder | undefined): Decoder | undefined {
  if (octets.subarray(0, 3).equals(UTF_8_MARK)) return DECODE_UTF_8
  const mark = octets.length % 2 === 0 ? octets.toString('latin1', 0, 2) : ''
  const isUnicode = known === undefined || known.encoding.startsWith('utf-16')
  const encoding = { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' }[mark]
  return isUnicode && encoding !== undefined ? new TextDecoder(encoding) : undefined
}

function guessedDecoder(octets: Buffer, isHtml: boolean): Decoder {
  const declared = isHtml ? declaredIn(octets) : undefined
  if (isAscii(octets)) return isJapanese(octets) ? new TextDecoder('iso-2022-jp') : (declared ?? DECODE_UTF_8)
  if (isUtf8(octets)) return DECODE_UTF_8
  if (declared) return declared
  // A text that was cut or lost an octet still has other characters.
  const hasCharacters = /[^\x00-\x7f\ufffd]/.test(octets.toString())
  return hasCharacters ? DECODE_UTF_8 : DECODE_WINDOWS
}

function isJapanese(octets: Buffer): boolean {
  return octets.includes(0x1b) && JAPANESE.test(octets.toString('latin1'))
}

/** The charset that a meta element declares: `charset`, or in `content`. */
function declaredIn(html: Buffer): Decoder | undefined {
  for (const piece of html.toString('latin1', 0, MAX_HEAD).split('<')) {
    if (!/^meta\s/i.test(piece)) continue
    const [, name = ''] = /\bcharset\s*=["']?([\w:-]{1,40})/i.exec(piece.split('>', 1)[0] ?? '') ?? []
    // UTF-16 would not have been read as ASCII this far.
    const decoder = isPlain(name) || /^utf-16|^unicode/i.test(name) ? undefined : decoderNamed(name)
    if (decoder) return decoder
  }
  return undefined
}
