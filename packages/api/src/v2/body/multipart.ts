import { isUtf8 } from 'node:buffer'

/** One part of a form (RFC 7578). */
export interface Part {
  readonly name: string
  /** Undefined for a field that is not a file. Empty for a file without a name, or if no file was chosen. */
  readonly fileName: string | undefined
  readonly charset: string
  readonly octets: Buffer
}

/** Maximum size of a part's header fields in bytes; browsers need some two hundred. */
const MAX_HEAD = 16 * 1024
const MAX_PARTS = 200_000

/** Thrown for a malformed multipart body. */
export class MultipartError extends Error {}

/** Returns the boundary of a Content-Type, or undefined (RFC 2046 5.1.1 allows 70 characters; some clients use more). */
export function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]{1,256})"|([^\s;,"]{1,256}))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

/**
 * Splits a multipart body into parts whose contents are views of the body. A body without its final delimiter is rejected,
 * because half a message must not be sent.
 *
 * Throws {@link MultipartError}.
 */
export function* partsOf(body: Buffer, boundary: string): Generator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter follows a preamble, or is at the very start without the CRLF that precedes all others.
  let at = body.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2)) ? -2 : body.indexOf(delimiter)
  for (let count = 0; at !== -1; count++) {
    const line = body.indexOf('\r\n', at + delimiter.length)
    const rest = body.toString('latin1', at + delimiter.length, line === -1 ? body.length : line).trimEnd()
    if (rest === '--') return
    if (rest !== '' || line === -1) throw new MultipartError('malformed multipart delimiter')
    if (count === MAX_PARTS) throw new MultipartError('too many multipart parts')
    // The header may be empty, so the search for its blank line starts at the line break of the delimiter.
    const blank = body.subarray(line, line + MAX_HEAD).indexOf('\r\n\r\n')
    if (blank === -1) throw new MultipartError('multipart part without header fields')
    const start = line + blank + 4
    const end = body.indexOf(delimiter, start - 2)
    if (end === -1) throw new MultipartError('multipart part without end')
    yield part(
      headOf(body.subarray(line + 2, Math.max(line + 2, line + blank))),
      body.subarray(start, Math.max(start, end)),
    )
    at = end
  }
  throw new MultipartError('multipart body without final delimiter')
}

function headOf(octets: Buffer): string {
  if (!isUtf8(octets)) throw new MultipartError('multipart header is not UTF-8')
  return octets.toString()
}

function part(head: string, octets: Buffer): Part {
  const fields = new Map<string, string>()
  // Folded lines are obsolete but harmless (RFC 5322 4.2).
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const disposition = parameters(fields.get('content-disposition') ?? '')
  const type = parameters(fields.get('content-type') ?? 'text/plain')
  const name = disposition.get('name')
  if (disposition.get('') !== 'form-data' || !name) throw new MultipartError('multipart part without name')
  return {
    name,
    fileName: fileNameOf(disposition),
    charset: (type.get('charset') ?? 'utf-8').toLowerCase(),
    octets,
  }
}

/** Some clients send a whole path, whose last segment is the name (RFC 7578 4.2). */
function fileNameOf(disposition: ReadonlyMap<string, string>): string | undefined {
  const extended = /^utf-8'[^']*'(.*)$/i.exec(disposition.get('filename*') ?? '')?.[1]
  const name = extended === undefined ? disposition.get('filename') : unescaped(extended, /%[0-9a-f]{2}/i)
  return name?.replace(/^.*[/\\]/s, '')
}

/** Parses `form-data; name="a"`: the value under an empty name, then each parameter. */
function parameters(field: string): Map<string, string> {
  const found = new Map([['', (/^[^;]*/.exec(field)?.[0] ?? '').trim().toLowerCase()]])
  for (const [, name = '', quoted, bare] of field.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g)) {
    // Browsers write `"` and line breaks as %22, %0D and %0A; curl writes `\"`.
    const value = quoted === undefined ? (bare ?? '') : unescaped(quoted.replace(/\\(["\\])/g, '$1'), /%(22|0D|0A)/)
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value)
  }
  return found
}

function unescaped(text: string, one: RegExp): string {
  const run = new RegExp(`(?:${one.source})+`, 'gi')
  return text.replace(run, (escapes) => {
    const octets = Buffer.from(escapes.replaceAll('%', ''), 'hex')
    // Checked first because an exception costs as much as a hundred names, and a body may contain a million invalid escapes.
    return isUtf8(octets) ? octets.toString() : escapes
  })
}
