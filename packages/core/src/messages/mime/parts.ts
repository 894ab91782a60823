import mimeTypes from 'mime-types'
import { base64Lines, encodeText } from './encode.ts'
import { fileNameParameter } from './header.ts'

/** What a file's part says beyond its name. */
export interface FileHead {
  /** In place of the one its name says. */
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
  return `Content-Type: ${type}; charset=utf-8${methodOf(type, text)}\r\nContent-Transfer-Encoding: ${encoded.encoding}\r\n\r\n${encoded.text}`
}

/** Calendars go by what is to be done with them, in the type too (RFC 6047 2.4). */
function methodOf(type: string, text: string): string {
  if (type !== 'text/calendar') return ''
  const [, method] = /^METHOD:([A-Z-]{1,32})\r?$/im.exec(text.slice(0, 4096)) ?? []
  return method === undefined ? '' : `; method=${method.toUpperCase()}`
}

/** What a name says about its file. */
export function typeByName(fileName: string): string {
  return mimeTypes.lookup(fileName) || 'application/octet-stream'
}

export function filePart({ fileName, octets, type, inline, contentId }: FilePart): Buffer[] {
  if (!octets) throw new Error('an attachment of the message is missing')
  const head =
    `Content-Type: ${type ?? typeByName(fileName)};\r\n ${fileNameParameter('name', fileName)}\r\n` +
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
