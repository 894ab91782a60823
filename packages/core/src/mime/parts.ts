import mimeTypes from 'mime-types'
import { base64Lines, encodeText, hasLongLine, withCrlf } from './encode.ts'
import { fileNameParameter } from './header.ts'
import { ownParameters, parseMediaType } from './media-type.ts'

/** Header data of an attachment other than its name. */
export interface FileHead {
  /** Media type with parameters; overrides the type derived from the name. */
  readonly type?: string
  readonly inline?: true
  /** Without angle brackets. */
  readonly contentId?: string
}

export interface FilePart extends FileHead {
  readonly fileName: string
  readonly octets: Buffer | undefined
}

export function textPart(type: string, text: string): string {
  const encoded = encodeText(text)
  const { essence, own } = withOwnParameters(type)
  const field = parameterized(essence, ['charset=utf-8', ...own, ...methodOf(essence, own, text)])
  return `Content-Type: ${field}\r\nContent-Transfer-Encoding: ${encoded.encoding}\r\n\r\n${encoded.text}`
}

/** Calendars carry their METHOD in the content type too (RFC 6047 2.4). */
function methodOf(essence: string, own: readonly string[], text: string): string[] {
  if (essence !== 'text/calendar' || own.some((parameter) => parameter.startsWith('method='))) return []
  const [, method] = /^METHOD:([A-Z-]{1,32})\r?$/im.exec(text.slice(0, 4096)) ?? []
  return method === undefined ? [] : [`method=${method.toUpperCase()}`]
}

/** Parses a stored media type. */
function withOwnParameters(type: string): { essence: string; own: readonly string[] } {
  const parsed = parseMediaType(type)
  return { essence: parsed?.essence ?? type, own: parsed ? ownParameters(parsed) : [] }
}

/** Formats the value on one line, or with one parameter per line if it would be too long. */
function parameterized(essence: string, parameters: readonly string[]): string {
  const line = [essence, ...parameters].join('; ')
  return line.length <= MAX_LINE ? line : [essence, ...parameters].join(';\r\n ')
}

/** Maximum length of the value, so that with its field name a line has at most 76 characters. */
const MAX_LINE = 60

/** Returns the media type for a file name's extension. */
export function typeByName(fileName: string): string {
  return mimeTypes.lookup(fileName) || 'application/octet-stream'
}

export function filePart({ fileName, octets, type, inline, contentId }: FilePart): Buffer[] {
  if (!octets) throw new Error('an attachment of the message is missing')
  const encoded = encodedFile(withOwnParameters(type ?? typeByName(fileName)), octets)
  const head =
    `Content-Type: ${parameterized(encoded.essence, encoded.own)};\r\n ${fileNameParameter('name', fileName)}\r\n` +
    `Content-Transfer-Encoding: ${encoded.encoding}\r\n` +
    `Content-Disposition: ${inline ? 'inline' : 'attachment'};\r\n ${fileNameParameter('filename', fileName)}\r\n` +
    `${contentId === undefined ? '' : `Content-ID: <${contentId}>\r\n`}\r\n`
  return [Buffer.from(head), encoded.octets]
}

interface Encoded {
  readonly essence: string
  readonly own: readonly string[]
  readonly encoding: '7bit' | 'base64'
  readonly octets: Buffer
}

/**
 * base64, except for messages, which must not be encoded (RFC 2045 6.4, 2046 5.2.1): Thunderbird and others show an encoded one as empty. One that
 * is text stays as it is, except for its line ends; another one is a file of no known type.
 */
function encodedFile({ essence, own }: Pick<Encoded, 'essence' | 'own'>, octets: Buffer): Encoded {
  const isMessage = essence.startsWith('message/')
  const text = isMessage ? sevenBit(octets) : undefined
  if (text) return { essence, own, encoding: '7bit', octets: text }
  // RFC 6532 3.7 permits encodings for message/global.
  const type =
    isMessage && !essence.startsWith('message/global')
      ? { essence: 'application/octet-stream', own: [] }
      : { essence, own }
  return { ...type, encoding: 'base64', octets: base64Lines(octets) }
}

/** With CRLF at each line's end; undefined unless that is ASCII in lines of at most 998 characters (RFC 2045 2.7). */
function sevenBit(octets: Buffer): Buffer | undefined {
  const text = octets.toString('latin1')
  if (!/^[\t\r\n\x20-\x7e]*$/.test(text)) return undefined
  const lines = withCrlf(text)
  return hasLongLine(lines) ? undefined : Buffer.from(lines.endsWith('\r\n') ? lines : `${lines}\r\n`, 'latin1')
}

export function multipart(
  kind: 'alternative' | 'mixed' | 'related',
  label: string,
  parts: readonly (readonly Buffer[])[],
): Buffer[] {
  // "=_" cannot occur in quoted-printable or base64 text, and the id cannot be guessed before the message is accepted.
  const boundary = `=_${label}`
  // RFC 2387 3.1: the type of the root part.
  const root = kind === 'related' ? ' type="text/html";\r\n' : ''
  const out: Buffer[] = [Buffer.from(`Content-Type: multipart/${kind};\r\n${root} boundary="${boundary}"\r\n\r\n`)]
  // Every part ends with CRLF, which belongs to the next delimiter (RFC 2046 5.1.1).
  for (const part of parts) out.push(Buffer.from(`--${boundary}\r\n`), ...part)
  out.push(Buffer.from(`--${boundary}--\r\n`))
  return out
}
