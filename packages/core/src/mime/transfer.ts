import { release } from '../platform/process/release.ts'
import { base64Lines, hasLongLine, quotedPrintable } from './encode.ts'

/** Content transfer encoding of a text (RFC 2045 6). */
export type TransferEncoding = 'identity' | 'quoted-printable' | 'base64'

export function transferEncodingOf(encoding: string): TransferEncoding | undefined {
  if (['', '7bit', '8bit', 'binary'].includes(encoding)) return 'identity'
  return encoding === 'quoted-printable' || encoding === 'base64' ? encoding : undefined
}

/** Undefined if the text cannot be decoded without loss. */
export function decodeTransfer(octets: Buffer, encoding: TransferEncoding): Buffer | undefined {
  if (encoding === 'identity') return octets
  return encoding === 'base64' ? decodeBase64(octets) : decodeQuotedPrintable(octets)
}

/** Characters decoded at a time: removing the line ends of 10 MB as one string took 30 MB more. */
const CHUNK = 64 * 1024

function decodeBase64(octets: Buffer): Buffer | undefined {
  const out = Buffer.allocUnsafe(Math.ceil((octets.length * 3) / 4))
  let length = 0
  let rest = ''
  let ended = false
  for (let at = 0; at < octets.length; at += CHUNK) {
    const bare = rest + octets.toString('latin1', at, at + CHUNK).replace(/[\r\n\t ]+/g, '')
    const whole = bare.slice(0, bare.length - (bare.length % 4))
    rest = bare.slice(whole.length)
    if (bare === '') continue
    if (ended || !/^[A-Za-z0-9+/]*={0,2}$/.test(whole)) return undefined
    length += out.write(whole, length, 'base64')
    ended = whole.endsWith('=')
  }
  return rest === '' ? out.subarray(0, length) : undefined
}

/** Decodes quoted-printable text; malformed text, which includes text that was cut, as well as possible. */
export function readQuotedPrintable(octets: Buffer): Buffer {
  const decoded = decodeTransfer(octets, 'quoted-printable')
  if (decoded) return decoded
  const text = octets
    .toString('latin1')
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_written, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}

const EQUALS = 61

/** RFC 2045 6.7. */
function decodeQuotedPrintable(octets: Buffer): Buffer | undefined {
  const out = Buffer.allocUnsafe(octets.length)
  let length = 0
  let at = 0
  while (at < octets.length) {
    const octet = octets[at] as number
    if (octet === EQUALS) {
      const high = hexDigit(octets[at + 1])
      const low = hexDigit(octets[at + 2])
      if (high !== -1 && low !== -1) {
        out[length++] = high * 16 + low
        at += 3
        continue
      }
      const lineEnd = afterBlanks(octets, at + 1)
      if (!isLineEnd(octets, lineEnd)) return undefined
      at = lineEnd + 2
    } else if (octet === 32 || octet === 9) {
      const end = afterBlanks(octets, at)
      // Spaces at the end of a line were added in transit.
      if (!isLineEnd(octets, end)) length += octets.copy(out, length, at, end)
      at = end
    } else {
      out[length++] = octet
      at++
    }
  }
  return out.subarray(0, length)
}

function hexDigit(octet: number | undefined): number {
  if (octet === undefined) return -1
  if (octet >= 48 && octet <= 57) return octet - 48
  const letter = octet & ~32
  return letter >= 65 && letter <= 70 ? letter - 55 : -1
}

function afterBlanks(octets: Buffer, from: number): number {
  let at = from
  while (octets[at] === 32 || octets[at] === 9) at++
  return at
}

/** Whether a line, or the text, ends here. */
function isLineEnd(octets: Buffer, at: number): boolean {
  return at >= octets.length || (octets[at] === 13 && octets[at + 1] === 10)
}

/**
 * Encodes a text again, with its previous encoding if possible. Quoted-printable is used instead if a line is too long
 * for SMTP, or for non-ASCII text with `sevenBit`. `text` contains octets, one character each. The result ends with a
 * line end only if the text does.
 */
export function encodeTransfer(
  text: string,
  encoding: TransferEncoding,
  { sevenBit }: { sevenBit: boolean },
): { octets: Buffer; encoding: TransferEncoding } {
  const octets = Buffer.from(text, 'latin1')
  if (encoding === 'base64') {
    const encoded = base64Lines(octets)
    release(octets)
    return { octets: withoutLineEnd(encoded), encoding }
  }
  const fits = encoding === 'identity' && !hasLongLine(text) && !(sevenBit && /[^\x00-\x7f]/.test(text))
  if (fits) return { octets, encoding }
  const encoded = Buffer.from(quotedPrintable(octets), 'latin1')
  return { octets: text.endsWith('\r\n') ? encoded : withoutLineEnd(encoded), encoding: 'quoted-printable' }
}

function withoutLineEnd(octets: Buffer): Buffer {
  return octets.subarray(0, octets.length - 2)
}
