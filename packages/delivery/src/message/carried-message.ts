import { isAscii } from 'node:buffer'
import {
  type AsciiHeader,
  asciiHeader,
  type BuiltMessage,
  type ConformedBody,
  type Core,
  type LoadedMessage,
  type Reply,
  ServiceError,
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
/** Octets of the longest header that is written again in the main loop, which takes up to 7 ms; a longer one is written in a thread. */
const MAX_INLINE = 32 * 1024
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
  const end = endOfHeader(built.octets)
  const head = built.octets.subarray(0, end)
  if (server.utf8 || isAscii(head)) return withBody(built, accountId, server, core)
  const isStrict = RECEIVED_WITH_UTF8.test(head.toString('latin1'))
  const carry = (header: AsciiHeader): CarriedMessage | Promise<CarriedMessage> => {
    if (header.kind === 'impossible') return { ...built, obstacle: noUtf8(`the field ${header.name}`) }
    if (head.equals(header.octets)) return withBody(built, accountId, server, core)
    const octets = Buffer.concat([header.octets, built.octets.subarray(end)])
    return withBody({ octets, notes: [...built.notes, HEADER_NOTE] }, accountId, server, core)
  }
  if (end <= MAX_INLINE) return carry(asciiHeader(head, isStrict))
  const writing = core.messages.asciiHeader(head, accountId, isStrict)
  return writing.then(carry, (error) => ({
    ...built,
    obstacle: noUtf8(`a header that is this costly (${costOf(error)})`),
  }))
}

function withBody(
  { octets, notes }: BuiltMessage,
  accountId: number,
  server: ServerAbilities,
  core: Core,
): CarriedMessage | Promise<CarriedMessage> {
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
  return { kind: 'impossible', problem: costOf(error) }
}

/** Throws what is not about this message. */
function costOf(error: unknown): string {
  if (!(error instanceof ServiceError) || error.errorName !== 'messageMalformed') throw error
  return String(error.values.problem)
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
