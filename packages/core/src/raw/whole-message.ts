import { parseAddress } from '../mime/address.ts'
import { readMailboxes } from '../mime/mailboxes.ts'
import type { Stoppable } from '../platform/concurrency/turns.ts'
import { ServiceError } from '../platform/errors.ts'
import { LIMITS } from '../submission/limits.ts'
import { CRLF, type Field } from './header.ts'
import { type CheckedMessage, MessageCheck } from './message-check.ts'

/** Octets checked before other calls get a slot. */
const PIECE = 64 * 1024
const CR = 13

/**
 * Checks a message that was given as a whole, as SMTP does while it arrives. One whose lines all end with LF, as mail is stored on Unix and as
 * programs that submit by SMTP have it before, gets CRLF: without a single CR in it there is only one reading. A last line without an end gets one.
 *
 * Throws tooLarge, lineEndingInvalid, messageMalformed.
 */
export function* checkWhole(octets: Buffer): Stoppable<CheckedMessage> {
  const isUnix = !octets.includes(CR)
  yield
  const check = new MessageCheck()
  const pieces: Buffer[] = []
  let length = 0
  const add = (piece: Buffer): void => {
    length += piece.length
    const refusal = length > LIMITS.messageSize ? messageTooLarge() : check.check(piece)
    if (refusal) throw refusal
    pieces.push(piece)
  }
  for (let at = 0; at < octets.length; at += PIECE) {
    const piece = octets.subarray(at, at + PIECE)
    add(isUnix ? Buffer.from(piece.toString('latin1').replaceAll('\n', '\r\n'), 'latin1') : piece)
    yield
  }
  if (!endsWithLine(octets)) add(CRLF)
  const refusal = check.end()
  if (refusal) throw refusal
  return check.checked(pieces)
}

function endsWithLine(octets: Buffer): boolean {
  return octets.at(-1) === '\n'.charCodeAt(0)
}

/** The refusal of a message larger than `most` octets. */
export function messageTooLarge(most: number = LIMITS.messageSize): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${most} bytes` } })
}

export interface Envelope {
  /** Empty for the null sender. */
  readonly sender: string
  readonly recipients: readonly string[]
}

const RECIPIENT_FIELDS = new Set(['to', 'cc', 'bcc'])

/** Recipients in the header at most, by their `@`: what reading them costs is known before it is done. */
export function recipientsAtMost(fields: readonly Field[]): number {
  let count = 0
  for (const { name, value } of fields) if (RECIPIENT_FIELDS.has(name)) count += value.split('@').length - 1
  return count
}

/** The envelope that the header names, as `sendmail -t` reads it: From, and To, Cc and Bcc. */
export function* envelopeIn(fields: readonly Field[]): Stoppable<Envelope> {
  const recipients = new Map<string, string>()
  for (const { name, value } of fields) {
    if (!RECIPIENT_FIELDS.has(name)) continue
    for (const { email } of readMailboxes(value).mailboxes) recipients.set(parseAddress(email)?.key ?? email, email)
    yield
  }
  const from = fields.find(({ name }) => name === 'from')?.value ?? ''
  return { sender: readMailboxes(from).mailboxes[0]?.email ?? '', recipients: [...recipients.values()] }
}
