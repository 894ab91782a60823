/** Content transfer encodings (RFC 2045 6). Lines of what comes out are at most 76 characters, or 998 for 7bit. */

export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64'
  /** Ends with CRLF. */
  readonly text: string
}

/** Encodes text for a body part: as it is where it can be, else quoted-printable, else (mostly non-ASCII) base64. */
export function encodeText(input: string): EncodedText {
  const text = withCrlf(input)
  if (/^[\t\r\n\x20-\x7e]*$/.test(text) && !hasLongLine(text)) return { encoding: '7bit', text: endLine(text) }
  const octets = Buffer.from(text)
  let foreign = 0
  for (const octet of octets) if (octet > 126) foreign++
  if (foreign * 4 > octets.length) return { encoding: 'base64', text: base64Lines(octets) }
  return { encoding: 'quoted-printable', text: quotedPrintable(octets) }
}

/** Base64 in lines of 76. */
export function base64Lines(octets: Buffer): string {
  // 57 octets make one line; whole lines at a time keep the joining cheap.
  const lines: string[] = []
  for (let at = 0; at < octets.length; at += 57)
    lines.push(octets.toString('base64', at, Math.min(at + 57, octets.length)))
  return `${lines.join('\r\n')}\r\n`
}

/** Every line end becomes CRLF (RFC 5322 2.1: CR and LF only together). */
export function withCrlf(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/\r\n?|\n/g, '\r\n') : text
}

function endLine(text: string): string {
  return text.endsWith('\r\n') ? text : `${text}\r\n`
}

function hasLongLine(text: string): boolean {
  let start = 0
  while (start < text.length) {
    const end = text.indexOf('\r\n', start)
    if ((end === -1 ? text.length : end) - start > 998) return true
    if (end === -1) return false
    start = end + 2
  }
  return false
}

const HEX = '0123456789ABCDEF'

function quotedPrintable(octets: Buffer): string {
  let out = ''
  let line = ''
  const end = octets.length
  for (let at = 0; at < end; at++) {
    const octet = octets[at] as number
    if (octet === 13 && octets[at + 1] === 10) {
      out += `${line}\r\n`
      line = ''
      at++
      continue
    }
    const lineEnds = at + 1 === end || (octets[at + 1] === 13 && octets[at + 2] === 10)
    const plain = (octet >= 33 && octet <= 126 && octet !== 61) || ((octet === 32 || octet === 9) && !lineEnds)
    const piece = plain ? String.fromCharCode(octet) : `=${HEX[octet >> 4]}${HEX[octet & 15]}`
    if (line.length + piece.length > 75) {
      out += `${line}=\r\n`
      line = ''
    }
    line += piece
  }
  return endLine(out + line)
}
