import type { Test } from 'tap'
import type { startSandbox } from './sandbox.ts'

export const LATIN = Buffer.from('F\xe4hre nach K\xf6ln', 'latin1')
export const UTF_8 = Buffer.from('Fähre nach Köln')
export const [ESCAPE, SHIFT] = ['\x1b$B', '\x1b(B']
/** こんにちは */
export const ISO_2022_JP = Buffer.from(`${ESCAPE}$3$s$K$A$O${SHIFT}`, 'latin1')
export const SHIFT_JIS = Buffer.from('82b182f182c982bf82cd', 'hex')
export const EUC_JP = Buffer.from('a4b3a4f3a4cba4c1a4cf', 'hex')
export const JAPANESE = 'こんにちは'
/** 你好 */
export const HZ = Buffer.from('say ~{Dc:C~} ~~ and ~\r\nmore', 'latin1')
export const GBK = Buffer.from('c4e3bac3', 'hex')
export const BIG5 = Buffer.from('a741a66e', 'hex')
/** 안녕 */
export const EUC_KR = Buffer.from('bec8b3e7', 'hex')

export const octets = (...pieces: (string | Buffer)[]): Buffer =>
  Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)))

export const FIELDS = 'From: desk@ship.example\r\nTo: lena@harbor.example\r\nMIME-Version: 1.0\r\n'

/** A text with this content type, or without one. */
export function text(type: string | undefined, content: Buffer | string, encoding = '8bit'): Buffer {
  const body = typeof content === 'string' ? Buffer.from(content) : content
  const written = encoding === 'base64' ? body.toString('base64') : body
  return octets(
    FIELDS,
    type === undefined ? '' : `Content-Type: ${type}\r\n`,
    `Subject: s\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`,
    written,
    '\r\n',
  )
}

/** A message with these header fields. */
export const header = (...fields: (string | Buffer)[]): Buffer => octets(FIELDS, ...fields, '\r\n\r\nhello\r\n')

/** A file whose name is given by these parameters. */
export function file(disposition: string | Buffer, type: string | Buffer = 'application/pdf'): Buffer {
  return octets(
    FIELDS,
    'Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b\r\nContent-Type: ',
    type,
    '\r\nContent-Disposition: attachment',
    disposition,
    '\r\n\r\nfile\r\n--b--\r\n',
  )
}

export function parts(boundary: string, ...lines: string[]): Buffer {
  return octets(
    FIELDS,
    `Subject: s\r\nContent-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n`,
    lines.join('\r\n'),
  )
}

export const PLAIN = 'Content-Type: text/plain\r\n\r\nfirst'
export const HTML = 'Content-Type: text/html\r\n\r\n<p>second</p>'

export interface Shown {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  readonly headers: readonly { name: string; value: string }[]
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

export type Read = (shown: Shown) => unknown

export const itsText: Read = ({ text }) => text?.trimEnd()
export const itsHtml: Read = ({ html }) => html?.trim()
export const both: Read = ({ text, html }) => [text?.trim(), html?.trim()]
export const itsSubject: Read = ({ subject }) => subject
export const itsFiles: Read = ({ attachments }) => attachments.map(({ fileName }) => fileName)

export type Row = readonly [what: string, message: Buffer, read: Read, found: unknown]

/** Tests what the viewer shows of each message. */
export function areShown(t: Test, sandbox: Awaited<ReturnType<typeof startSandbox>>, rows: readonly Row[]): void {
  for (const [what, message, read, found] of rows) {
    t.test(`${what} is shown as mail programs show it`, async (t) => {
      const entry = await sandbox.store(t, message)
      const shown = (await (await fetch(`${sandbox.url}/messages/${entry.id}`)).json()) as Shown
      t.strictSame(read(shown), found)
    })
  }
}
