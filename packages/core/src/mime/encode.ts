/** Content transfer encodings (RFC 2045 6). Lines of the result have at most 76 characters, or 998 for 7bit. */

export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64'
  /** Ends with CRLF. */
  readonly text: string
}

/**
 * Encodes text for a body part: unchanged if possible, otherwise as quoted-printable, or as base64 if more than a
 * quarter is non-ASCII.
 */
export function encodeText(input: string): EncodedText {
  const text = withCrlf(input)
  if (/^[\t\r\n\x20-\x7e]*$/.test(text) && !hasLongLine(text)) return { encoding: '7bit', text: endLine(text) }
  const octets = Buffer.from(text)
  let foreign = 0
  for (const octet of octets) if (octet > 126) foreign++
  if (foreign * 4 > octets.length) return { encoding: 'base64', text: base64Lines(octets).toString('latin1') }
  return { encoding: 'quoted-printable', text: quotedPrintable(octets) }
}

/** Octets of input per line. */
const LINE_INPUT = 57

/** Base64 in lines of 76 characters, each ending with CRLF. */
export function base64Lines(octets: Buffer): Buffer {
  const lines = Math.max(1, Math.ceil(octets.length / LINE_INPUT))
  const out = Buffer.allocUnsafe(4 * Math.ceil(octets.length / 3) + 2 * lines)
  let length = 0
  // Writes line by line into one buffer, so that a large file is not held two more times as text.
  for (let line = 0; line < lines; line++) {
    const end = Math.min((line + 1) * LINE_INPUT, octets.length)
    length += out.write(octets.toString('base64', line * LINE_INPUT, end), length, 'latin1')
    length += out.write('\r\n', length, 'latin1')
  }
  return out
}

/** Converts every line end to CRLF (RFC 5322 2.1: CR and LF occur only together). */
export function withCrlf(text: string): string {
  if (!/[\r\n]/.test(text)) return text
  let out = ''
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = Math.min(start + CHUNK, text.length)
    if (text[end - 1] === '\r' && text[end] === '\n') end++
    out += text
      .slice(start, end)
      .split(/\r\n?|\n/)
      .join('\r\n')
  }
  return out
}

/** Characters processed at a time: replacing 28 MB of line ends with one regular expression took more than 512 MB. */
const CHUNK = 64 * 1024

function endLine(text: string): string {
  return text.endsWith('\r\n') ? text : `${text}\r\n`
}

/** Whether a line exceeds the limit of SMTP (RFC 5321 4.5.3.1.6). */
export function hasLongLine(text: string): boolean {
  let start = 0
  while (start < text.length) {
    const end = text.indexOf('\r\n', start)
    if ((end === -1 ? text.length : end) - start > 998) return true
    if (end === -1) return false
    start = end + 2
  }
  return false
}

const HEX = Buffer.from('0123456789ABCDEF')
const [EQUALS, CR, LF, DASH] = [61, 13, 10, 45]
/** Maximum characters of a line before its soft line break. */
const QUOTED_LINE = 75

/** Whether an octet needs no encoding, wherever it is in a line. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, octet) => Number(octet >= 33 && octet <= 126 && octet !== EQUALS))

/**
 * The result ends with CRLF. Writing into one buffer takes a quarter of the time of concatenating strings, and a loop by index half of that of an
 * iterator: 29 MB take 0.2 s.
 */
export function quotedPrintable(octets: Buffer): string {
  let written = octets.length
  for (let at = 0; at < octets.length; at++) if (PLAIN[octets[at] as number] === 0) written += 2
  const out = Buffer.allocUnsafe(written + 3 * (Math.ceil(written / (QUOTED_LINE - 2)) + 1))
  const end = octets.length
  let length = 0
  let column = 0
  for (let at = 0; at < end; at++) {
    const octet = octets[at] as number
    if (PLAIN[octet] === 1 && column > 0 && column < QUOTED_LINE) {
      out[length++] = octet
      column++
      continue
    }
    if (octet === CR && octets[at + 1] === LF) {
      length += endOfLine(out, length)
      column = 0
      at++
      continue
    }
    const lineEnds = at + 1 === end || (octets[at + 1] === CR && octets[at + 2] === LF)
    // A delimiter of the message around it may begin with these two.
    const isDashes = column === 0 && octet === DASH && octets[at + 1] === DASH
    const plain =
      !isDashes && ((octet >= 33 && octet <= 126 && octet !== EQUALS) || ((octet === 32 || octet === 9) && !lineEnds))
    const width = plain ? 1 : 3
    if (column + width > QUOTED_LINE) {
      out[length++] = EQUALS
      length += endOfLine(out, length)
      column = 0
    }
    if (plain) out[length++] = octet
    else {
      out[length++] = EQUALS
      out[length++] = HEX[octet >> 4] as number
      out[length++] = HEX[octet & 15] as number
    }
    column += width
  }
  return endLine(out.toString('latin1', 0, length))
}

function endOfLine(out: Buffer, at: number): number {
  out[at] = CR
  out[at + 1] = LF
  return 2
}
