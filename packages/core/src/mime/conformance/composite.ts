import { withCrlf } from '../encode.ts'
import { decodeTransfer, type TransferEncoding, transferEncodingOf } from '../transfer.ts'
import { meantEncoding } from './transfer-encoding.ts'

/** Types that consist of parts or fields (RFC 2045 6.4, RFC 2046 5.2); those of RFC 6532 may be encoded. */
const COMPOSITE = /^(?:multipart\/|message\/(?!global))/
/** RFC 5322 2.2. */
const BEGINS_WITH_FIELD = /^(?:From [^\r\n]{1,300}\r\n)?(?:\r\n)?[!-9;-~]{1,76}[ \t]{0,9}:/
/** Characters of the beginning that are looked at. */
const BEGINNING = 512

/**
 * Returns the encoding of a composite part, which must have none: many readers do not decode it, so that they show nothing. Undefined if it is not
 * composite, or not encoded. `type` is in lower case; `encoding` the value of Content-Transfer-Encoding.
 */
export function encodingOfComposite(type: string, encoding: string): Exclude<TransferEncoding, 'identity'> | undefined {
  if (encoding === '' || !COMPOSITE.test(type)) return undefined
  const meant = transferEncodingOf(meantEncoding(encoding))
  return meant === 'identity' ? undefined : meant
}

export interface CompositePart {
  readonly body: Buffer
  readonly encoding: Exclude<TransferEncoding, 'identity'>
  /** Its own, if it is a multipart, and those of the parts around it. */
  readonly boundary: string | undefined
  readonly around: readonly string[]
}

/**
 * Returns the content of an encoded composite part, in lines that end with CRLF. The body itself if only its label is wrong, as some programs write it.
 * Undefined if it does not decode to what it should be, or if a line of it would be taken for the end of a part around it.
 */
export function decodeComposite({ body, encoding, boundary, around }: CompositePart): Buffer | undefined {
  if (boundary !== undefined && hasDelimiter(body, boundary)) return body
  const decoded = canonical(decodeTransfer(body, encoding))
  if (!decoded) return boundary === undefined && beginsWithField(body) ? body : undefined
  const isRight = boundary === undefined ? beginsWithField(decoded) : hasDelimiter(decoded, boundary)
  return isRight && !around.some((outer) => hasDelimiter(decoded, outer)) ? decoded : undefined
}

function canonical(octets: Buffer | undefined): Buffer | undefined {
  if (!octets || octets.includes(0)) return undefined
  const text = octets.toString('latin1')
  return /\r(?!\n)|(?<!\r)\n/.test(text) ? Buffer.from(withCrlf(text), 'latin1') : octets
}

function beginsWithField(octets: Buffer): boolean {
  return BEGINS_WITH_FIELD.test(octets.toString('latin1', 0, BEGINNING))
}

/** RFC 2046 5.1.1: whatever follows in the line. */
function hasDelimiter(octets: Buffer, boundary: string): boolean {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1')
  return octets.subarray(0, delimiter.length).equals(delimiter) || octets.includes(`\r\n--${boundary}`, 0, 'latin1')
}
