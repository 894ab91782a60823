import { TextDecoder } from 'node:util'
import { atOnce, type Stoppable } from '../platform/threads/turns.ts'

/** One encoded word (RFC 2047 2), its charset perhaps with a language (RFC 2231 5). Blanks in the text are some clients' mistake. */
const WORD = /=\?([\w-]{1,40})(?:\*[\w-]{0,40})?\?([BbQq])\?([^?]*)\?=/y
const BLANK = /^[ \t\r\n]*$/
const QUOTED = /=([0-9A-Fa-f]{2})/g
/**
 * Charsets of mail. The platform says no to another by an exception, which costs as much as decoding a hundred words; so few names
 * get that far that each is asked about once.
 */
const CHARSET =
  /^(utf-?8|(us-)?ascii|iso[-_]8859-\d{1,2}(-[ei])?|latin\d|(windows-|cp)125\d|windows-874|tis-620|koi8-[ru]|macintosh|x-mac-cyrillic|gb2312|gbk|gb18030|big5(-hkscs)?|(x-)?sjis|shift[-_]jis|windows-31j|euc-(jp|kr)|iso-2022-jp|ks_c_5601-1987)$/
/** Words that are decoded before others may have a turn. */
const WORDS = 300
const decoders = new Map<string, TextDecoder | null>()

/** Octets of adjacent words of one charset: a letter may begin in one word and end in the next, whatever RFC 2047 5 says. */
interface Run {
  readonly decoder: TextDecoder
  readonly octets: Buffer[]
}

/**
 * Decodes encoded words, in time that grows with the text alone. Blanks between two of them are no text (RFC 2047 6.2); a word in
 * a charset that is not known stays as it is.
 */
export function decodeWords(value: string): string {
  return value.includes('=?') ? atOnce(decodeWordsInPieces(value)) : value
}

/** The same for what may be a whole header of them: 18,000 words take 15 ms. */
export function* decodeWordsInPieces(value: string): Stoppable<string> {
  let out = ''
  let tried = 0
  let run: Run | undefined
  /** Behind the last word. */
  let end = 0
  for (let at = value.indexOf('=?'); at !== -1; at = value.indexOf('=?', at)) {
    if (++tried % WORDS === 0) yield
    WORD.lastIndex = at
    const [word, charset = '', encoding = '', text = ''] = WORD.exec(value) ?? []
    const decoder = word === undefined ? undefined : decoderOf(charset)
    if (word === undefined || !decoder) {
      at += 2
      continue
    }
    const between = value.slice(end, at)
    const adjacent = run !== undefined && BLANK.test(between)
    if (!run || !adjacent || run.decoder !== decoder) {
      out += decoded(run) + (adjacent ? '' : between)
      run = { decoder, octets: [] }
    }
    run.octets.push(encoding === 'B' || encoding === 'b' ? Buffer.from(text, 'base64') : quoted(text))
    end = at = at + word.length
  }
  return out + decoded(run) + value.slice(end)
}

/** The text of a field as a reader is shown it: one line of Unicode. */
export function readable(value: string): string {
  return decodeWords(value)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
}

function decoded(run: Run | undefined): string {
  if (!run) return ''
  const { decoder, octets } = run
  return decoder.decode(octets.length === 1 ? octets[0] : Buffer.concat(octets))
}

/** RFC 2047 4.2. What is beyond ASCII should not be there, and is UTF-8 (RFC 6532). */
function quoted(text: string): Buffer {
  const plain = text.replaceAll('_', ' ')
  if (!plain.includes('=')) return Buffer.from(plain)
  const octets = /[^\x00-\x7f]/.test(plain) ? Buffer.from(plain).toString('latin1') : plain
  return Buffer.from(
    octets.replace(QUOTED, (_written, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}

function decoderOf(charset: string): TextDecoder | undefined {
  const label = charset.toLowerCase()
  if (!CHARSET.test(label)) return undefined
  const known = decoders.get(label)
  if (known !== undefined) return known ?? undefined
  const decoder = newDecoder(label)
  decoders.set(label, decoder ?? null)
  return decoder
}

function newDecoder(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
