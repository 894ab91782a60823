import { isAscii, isUtf8 } from 'node:buffer'
import { fileNameParameter } from '../header.ts'
import { parameterText } from '../parameters.ts'
import type { PartHead } from '../read.ts'
import { MAX_LINE } from './line-length.ts'
import { ENCODING, isNamed, TYPE } from './part-fields.ts'
import { broken } from './transfer-encoding.ts'

/** Where a part is. */
export interface Position {
  readonly depth: number
  /** As in IMAP: 1.2; empty for the message itself. */
  readonly number: string
  readonly isSigned: boolean
  readonly inDigest: boolean
  /** A message, and one that is attached to another. */
  readonly isMessage?: boolean
  readonly isAttached?: boolean
  /** The boundaries of the parts around it. */
  readonly around: readonly string[]
}

/** A part that is changed. */
export interface Part extends Position {
  readonly head: PartHead
  readonly start: number
  readonly end: number
  /** As they are to be sent, with their line ends. */
  readonly fields: readonly string[]
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly name: string
}

/** RFC 2046 5.1.1; more characters than there are used by some programs. */
export const BOUNDARY = /^[\x20-\x7e]{1,200}$/
export const REPORT = /^message\/(?:delivery-status|disposition-notification|feedback-report)$/

/** The position of a message itself. */
export function wholeMessage(isSigned: boolean): Position {
  return { depth: 0, number: '', isSigned, inDigest: false, isMessage: true, around: [] }
}

/** The position of the message in a part. */
export function attachedIn({ depth, number, around }: Position): Position {
  return { depth: depth + 1, number, isSigned: false, inDigest: false, isMessage: true, isAttached: true, around }
}

/** Folds the lines of a report that are too long: its fields are read by programs. */
export function foldedReport(text: string): string {
  const lines = text.split('\r\n')
  return lines.map((line) => (line.length > MAX_LINE ? broken(line, '\r\n ') : line)).join('\r\n')
}

/** Breaks the lines of text outside of parts that are too long. */
export function brokenGap(text: string): string {
  const lines = text.split('\r\n')
  // A piece must not become a delimiter.
  const short = (line: string): string => broken(line, '\r\n').replaceAll('\r\n--', '\r\n -')
  return lines.map((line) => (line.length > MAX_LINE ? short(line) : line)).join('\r\n')
}

const LINE_END = Buffer.from('\r\n')

/** A whole message ends with a line end. */
export function ended(octets: Buffer, isMessage = false): Buffer {
  return !isMessage || octets.subarray(-2).equals(LINE_END) ? octets : Buffer.concat([octets, LINE_END])
}

/** Returns the header of a part whose body is encoded again, as lines. */
export function encodedHead(
  { fields, type, parameters, isMessage: isWhole }: Part,
  encoding: string,
  body: Buffer,
): string[] {
  const isMessage = type.startsWith('message/') && !type.startsWith('message/global')
  const kept = fields.filter((field) => !isNamed(field, ENCODING) && !(isMessage && isNamed(field, TYPE)))
  const added = [`Content-Transfer-Encoding: ${encoding}\r\n`]
  if (isMessage) {
    // RFC 2046 5.2.1: it must not be encoded, and many programs show an encoded one as empty.
    const name = parameterText(parameters, 'name') ?? 'message.eml'
    added.unshift(`Content-Type: application/octet-stream;\r\n ${fileNameParameter('name', name)}\r\n`)
  } else if (!kept.some((field) => isNamed(field, TYPE)) && isUtf8(body) && !isAscii(body)) {
    added.unshift('Content-Type: text/plain; charset=utf-8\r\n')
  }
  if (isWhole && !kept.some((field) => isNamed(field, 'mime-version'))) added.unshift('MIME-Version: 1.0\r\n')
  return [...kept, ...added]
}
