import { isAscii } from 'node:buffer'
import {
  asciiField,
  type BuiltMessage,
  type ConformedBody,
  type Core,
  type LoadedMessage,
  type Reply,
  ServiceError,
  splitFields,
} from '@postrider/core'

/** Extensions of a server (RFC 6152, RFC 6531). */
export interface ServerAbilities {
  /** 8BITMIME */
  readonly eightBit: boolean
  /** SMTPUTF8 */
  readonly utf8: boolean
}

/** A message with notes on what was encoded for a server, too. */
export interface CarriedMessage extends BuiltMessage {
  /** Why the server cannot carry it. */
  readonly obstacle?: Reply
}

const HEADER_NOTE = 'the header was written in ASCII: the server does not support SMTPUTF8'
/** Octets of the longest header that is written again: this runs in the main loop, and takes up to 7 ms. */
const MAX_HEADER = 32 * 1024
const HEADERS_END = Buffer.from('\r\n\r\n')

/** Our own Received field of a message that was received with SMTPUTF8 (RFC 6531 4.3). */
const RECEIVED_WITH_UTF8 = /^Received:(?:[^\r\n]|\r\n[ \t]){0,1000}[ \t]with UTF8SMTP/

/**
 * Returns a message as this server can carry it, before it is signed: without SMTPUTF8 its header is written in ASCII, and without 8BITMIME its
 * parts are encoded (RFC 6152 3). Composed messages have neither, except in addresses.
 */
export function carriedMessage(
  built: BuiltMessage,
  { format, accountId }: LoadedMessage,
  server: ServerAbilities,
  core: Core,
): CarriedMessage | Promise<CarriedMessage> {
  if (format !== 'mime' || (server.utf8 && server.eightBit)) return built
  const header = server.utf8 ? undefined : asciiHeader(built.octets)
  if (header && 'obstacle' in header) return { ...built, obstacle: header.obstacle }
  const octets = header?.octets ?? built.octets
  const notes = [...built.notes, ...(header ? [HEADER_NOTE] : [])]
  if (server.eightBit || isAscii(octets.subarray(endOfHeader(octets)))) return { octets, notes }
  const conforming = core.messages.conformBody([octets], accountId, { sevenBit: true })
  return conforming.catch(tooCostly).then((body) => {
    if (body.kind === 'unchanged') return { octets, notes }
    if (body.kind === 'impossible') return { octets, notes, obstacle: noEightBit(body.problem) }
    const { buffer, byteOffset, length } = body.message
    const what = `${body.what}: the server does not support 8BITMIME`
    return { octets: Buffer.from(buffer, byteOffset, length), notes: [...notes, what] }
  })
}

/** A message whose parts take too long would take as long at every attempt. */
function tooCostly(error: unknown): ConformedBody {
  if (!(error instanceof ServiceError) || error.errorName !== 'messageMalformed') throw error
  return { kind: 'impossible', problem: String(error.values.problem) }
}

/**
 * Undefined if it stays as it is. Fields of a client that did not use SMTPUTF8 and that cannot be written in ASCII are passed on unchanged, as
 * other servers do: half of them are not UTF-8.
 */
function asciiHeader(rendered: Buffer): { readonly octets: Buffer } | { readonly obstacle: Reply } | undefined {
  const end = endOfHeader(rendered)
  if (isAscii(rendered.subarray(0, end))) return undefined
  const head = rendered.toString('latin1', 0, end)
  const mustBeAscii = RECEIVED_WITH_UTF8.test(head)
  if (end > MAX_HEADER) return mustBeAscii ? { obstacle: noUtf8('a header of this length') } : undefined
  const fields: string[] = []
  for (const field of splitFields(head)) {
    const ascii = asciiField(field)
    if (ascii === undefined && mustBeAscii)
      return { obstacle: noUtf8(`the field ${field.slice(0, field.indexOf(':')).slice(0, 60)}`) }
    fields.push(ascii ?? field)
  }
  const written = fields.join('')
  return written === head
    ? undefined
    : { octets: Buffer.concat([Buffer.from(written, 'latin1'), rendered.subarray(end)]) }
}

/** Offset of the empty line. */
function endOfHeader(message: Buffer): number {
  const end = message.indexOf(HEADERS_END)
  return end === -1 ? message.length : end + 2
}

function noEightBit(problem: string): Reply {
  const text = `the server does not support 8BITMIME, and the message cannot be encoded: ${problem}`
  return { code: 550, enhanced: '5.6.3', text, own: true }
}

function noUtf8(what: string): Reply {
  const text = `the server does not support SMTPUTF8, and ${what} cannot be written in ASCII`
  return { code: 550, enhanced: '5.6.7', text, own: true }
}

/**
 * SMTPUTF8 is requested only if an address is non-ASCII, or if the client used it and a header field is non-ASCII (RFC 6531 3.4). Raw
 * bytes that a client put into the header without SMTPUTF8 are passed on unchanged, as other servers do: announced as UTF-8, which half
 * of them are not, they were bounced by every server without the extension.
 */
export function needsUtf8(recipient: string, octets: Buffer, { format }: LoadedMessage): boolean {
  if (/[^\x00-\x7f]/.test(recipient)) return true
  const end = endOfHeader(octets)
  if (isAscii(octets.subarray(0, end))) return false
  // Composed messages have non-ASCII bytes in addresses only.
  return format === 'content' || RECEIVED_WITH_UTF8.test(octets.toString('latin1', 0, end))
}
