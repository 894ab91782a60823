import { LEADING_COMMENTS } from '../read.ts'

/** Near misses that readers understand, and their standard names (RFC 2045 6.1). */
const MEANT: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^7[ _-]?bits?$/, '7bit'],
  [/^8[ _-]?bits?$/, '8bit'],
  [/^quoted[ _-]?printable$/, 'quoted-printable'],
  [/^(?:base[ _-]?64,?|b64)$/, 'base64'],
  // Charsets and types, of text that is not encoded: it may have octets above 127.
  [/^(?:utf-?8|(?:us-)?ascii|none|plain|text\/plain)$/, '8bit'],
]

/**
 * Returns the transfer encoding that a value means, in lower case: without quotes, parameters and comments, and with the standard's name.
 * An unknown one is returned as it is.
 */
export function meantEncoding(value: string): string {
  const bare = value
    .toLowerCase()
    .replace(LEADING_COMMENTS, '')
    .replace(/[;(].*$/s, '')
    .replace(/["']/g, '')
    .trim()
  return MEANT.find(([pattern]) => pattern.test(bare))?.[1] ?? bare
}

const LINE = 76

/** Breaks lines of base64; readers ignore line ends in it (RFC 2045 6.8). */
export function brokenBase64(octets: Buffer): Buffer {
  const lines: string[] = []
  for (const line of octets.toString('latin1').split('\r\n')) {
    // No character beyond ASCII belongs to it, and readers ignore those, too.
    const plain = line.replace(/[^\x20-\x7e]/g, '')
    for (let at = 0; at === 0 || at < plain.length; at += LINE) lines.push(plain.slice(at, at + LINE))
  }
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

/** Breaks a line into pieces. */
export function broken(line: string, by: string): string {
  return (line.match(/.{1,76}/gs) ?? []).join(by)
}

/** Whether quoted-printable would be larger than base64. */
export function isMostlyEncoded(octets: Buffer): boolean {
  let foreign = 0
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] as number
    if (octet > 126 || octet === 61) foreign++
  }
  return foreign * 6 > octets.length
}
