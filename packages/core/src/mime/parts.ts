import mimeTypes from 'mime-types'
import { base64Lines, encodeText } from './encode.ts'
import { fileNameParameter } from './header.ts'
import { ownParameters, parseMediaType } from './media-type.ts'

/** What a file's part says beyond its name. */
export interface FileHead {
  /** In place of the one its name says; with its parameters. */
  readonly type?: string
  readonly inline?: true
  /** Without brackets. */
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

/** Calendars go by what is to be done with them, in the type too (RFC 6047 2.4). */
function methodOf(essence: string, own: readonly string[], text: string): string[] {
  if (essence !== 'text/calendar' || own.some((parameter) => parameter.startsWith('method='))) return []
  const [, method] = /^METHOD:([A-Z-]{1,32})\r?$/im.exec(text.slice(0, 4096)) ?? []
  return method === undefined ? [] : [`method=${method.toUpperCase()}`]
}

/** A type as it was stored. */
function withOwnParameters(type: string): { essence: string; own: readonly string[] } {
  const parsed = parseMediaType(type)
  return { essence: parsed?.essence ?? type, own: parsed ? ownParameters(parsed) : [] }
}

/** In one line, or each parameter on its own where that would be long. */
function parameterized(essence: string, parameters: readonly string[]): string {
  const line = [essence, ...parameters].join('; ')
  return line.length <= MAX_LINE ? line : [essence, ...parameters].join(';\r\n ')
}

/** With the field's name at most 76. */
const MAX_LINE = 60

/** What a name says about its file. */
export function typeByName(fileName: string): string {
  return mimeTypes.lookup(fileName) || 'application/octet-stream'
}

export function filePart({ fileName, octets, type, inline, contentId }: FilePart): Buffer[] {
  if (!octets) throw new Error('an attachment of the message is missing')
  const { essence, own } = withOwnParameters(type ?? typeByName(fileName))
  const head =
    `Content-Type: ${parameterized(essence, own)};\r\n ${fileNameParameter('name', fileName)}\r\n` +
    'Content-Transfer-Encoding: base64\r\n' +
    `Content-Disposition: ${inline ? 'inline' : 'attachment'};\r\n ${fileNameParameter('filename', fileName)}\r\n` +
    `${contentId === undefined ? '' : `Content-ID: <${contentId}>\r\n`}\r\n`
  return [Buffer.from(head), base64Lines(octets)]
}

export function multipart(
  kind: 'alternative' | 'mixed' | 'related',
  label: string,
  parts: readonly (readonly Buffer[])[],
): Buffer[] {
  // "=_" can't occur in quoted-printable or base64 text, and the id is nobody's to guess before accept.
  const boundary = `=_${label}`
  // RFC 2387 3.1: the type of what the others belong to.
  const root = kind === 'related' ? ' type="text/html";\r\n' : ''
  const out: Buffer[] = [Buffer.from(`Content-Type: multipart/${kind};\r\n${root} boundary="${boundary}"\r\n\r\n`)]
  // Every part ends with CRLF, which belongs to the delimiter that follows (RFC 2046 5.1.1).
  for (const part of parts) out.push(Buffer.from(`--${boundary}\r\n`), ...part)
  out.push(Buffer.from(`--${boundary}--\r\n`))
  return out
}
