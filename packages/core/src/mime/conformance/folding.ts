import { isUtf8 } from 'node:buffer'
import { textField } from '../header.ts'
import { decodeWords } from '../words.ts'
import { MAX_LINE } from './line-length.ts'

/** Columns of a folded line, if it has a blank to be folded at. */
const COLUMNS = 76
const STRUCTURED = new Set([
  ...['from', 'sender', 'cc', 'bcc', 'date', 'message-id', 'references', 'return-path', 'received', 'received-spf'],
  ...['mime-version', 'authentication-results', 'autocrypt'],
])

/** Octets of a header's fields that are encoded: 512 kB take 100 ms. */
export const MAX_ENCODED = 32 * 1024

/** Whether a field has a syntax of its own, in which an encoded word has no place (RFC 2047 5). */
export function isStructured(name: string): boolean {
  const lower = name.toLowerCase()
  if (lower === 'content-description') return false
  return (
    STRUCTURED.has(lower) ||
    /^(?:resent|content|list|arc|disposition-notification)-|^to$|-(?:to|signature)$/.test(lower)
  )
}

/** Whether a line of these is longer than SMTP permits. */
export function hasLongLine(text: string): boolean {
  return text.length > MAX_LINE && text.split('\r\n').some((line) => line.length > MAX_LINE)
}

export interface FoldedField {
  readonly text: string
  /** Whether it was written as encoded words. */
  readonly isEncoded: boolean
}

/**
 * Folds the long lines of a header field at their blanks (RFC 5322 2.2.3), which DKIM's relaxed canonicalization does not see. A line without a
 * blank is written as encoded words if the field is free text. Undefined if that is impossible.
 *
 * `field` is the field with its CRLF, one character per octet; `encodable` the octets of the longest one that is encoded.
 */
export function folded(field: string, encodable = MAX_ENCODED): FoldedField | undefined {
  const lines = field.slice(0, -2).split('\r\n')
  const text = lines.flatMap((line) => (line.length > MAX_LINE ? foldedLine(line) : [line])).join('\r\n')
  if (!hasLongLine(text)) return { text: `${text}\r\n`, isEncoded: false }
  const colon = field.indexOf(':')
  const name = field.slice(0, colon).trimEnd()
  if (isStructured(name) || field.length > encodable) return undefined
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .trim()
  const octets = Buffer.from(value, 'latin1')
  const written = (isUtf8(octets) ? octets.toString() : value).replace(/\p{Cc}/gu, ' ')
  const encoded = textField(name, decodeWords(written))
  return hasLongLine(encoded) ? undefined : { text: encoded, isEncoded: true }
}

/** Blanks that would make a line by themselves. Relaxed canonicalization sees one (RFC 6376 3.4.2). */
const LONG_RUN = /[ \t]{77,}/g

/** A run of blanks stays whole at the beginning of the next line, so that no line has blanks only. */
function foldedLine(written: string): string[] {
  const line = written.replace(LONG_RUN, ' ')
  const lines: string[] = []
  const last = line.search(/[^ \t][ \t]*$/)
  let start = 0
  // Nothing is folded between a name and its value.
  let least = line.indexOf(':') + 2
  while (line.length - start > COLUMNS) {
    let at = Math.min(start + COLUMNS, last)
    while (at > least && !isFoldable(line, at)) at--
    if (at <= least) for (at = start + COLUMNS; at < last && !isFoldable(line, at); ) at++
    if (at >= last) break
    lines.push(line.slice(start, at))
    start = at
    least = at
  }
  return [...lines, line.slice(start)]
}

/** Whether a run of blanks begins here. */
function isFoldable(line: string, at: number): boolean {
  return isBlank(line[at]) && !isBlank(line[at - 1])
}

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t'
}
