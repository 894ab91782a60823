import { isAscii, isUtf8 } from 'node:buffer'
import { asciiField } from '../../mime/conformance/ascii-field.ts'
import { folded, hasLongLine } from '../../mime/conformance/folding.ts'
import { broken } from '../../mime/conformance/transfer-encoding.ts'
import { splitFields } from '../../mime/end-of-field.ts'

/** Octets of a header whose fields are written again; that takes up to 7 ms. */
const MAX_WRITTEN = 32 * 1024
const HEADER_END = '\r\n\r\n'

/**
 * Returns the part with the returned message, or with its header alone. One whose header is UTF-8 is global (RFC 6533 4, 6); one in another
 * charset is written in ASCII, since no type permits it.
 */
export function returnedMessage(original: Buffer, { isWhole }: { readonly isWhole: boolean }): Buffer {
  const end = original.indexOf(HEADER_END)
  const bodyStart = end === -1 ? original.length : end + 2
  const header = carried(original.subarray(0, bodyStart))
  const kind = isAscii(header) ? 'ascii' : 'global'
  const content = isWhole ? Buffer.concat([header, original.subarray(bodyStart)]) : header
  const encoding = isAscii(content) ? '' : 'Content-Transfer-Encoding: 8bit\r\n'
  const type = TYPES[kind][isWhole ? 'whole' : 'header']
  return Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n${encoding}\r\n`), content])
}

const TYPES = {
  ascii: { whole: 'message/rfc822', header: 'text/rfc822-headers' },
  global: { whole: 'message/global', header: 'message/global-headers' },
} as const

/** The header in ASCII or UTF-8, and in lines that any server carries. */
function carried(header: Buffer): Buffer {
  const text = header.toString('latin1')
  if (isUtf8(header) && !hasLongLine(text)) return header
  const fields = splitFields(text).map((field) => shortened(isUtf8(header) ? field : inAscii(field, header.length)))
  return Buffer.from(fields.join(''), 'latin1')
}

function inAscii(field: string, headerLength: number): string {
  const ascii = headerLength > MAX_WRITTEN ? undefined : asciiField(field, { fallback: 'windows-1252' })
  return ascii ?? field.replace(/[^\x00-\x7f]/g, '?')
}

/** A word that is too long is broken, since nothing but the message itself has to be read by programs. */
function shortened(field: string): string {
  if (!hasLongLine(field)) return field
  const text = folded(field)?.text
  if (text !== undefined) return text
  return field
    .split('\r\n')
    .map((line) => (hasLongLine(line) ? broken(line, '\r\n ') : line))
    .join('\r\n')
}
