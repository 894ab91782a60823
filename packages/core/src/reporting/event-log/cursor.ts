import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { LogQuery } from './query.ts'

/** A delivery's position in the log. Rows are ordered by message id and recipient number. */
export interface Place {
  /** A UUID. */
  readonly messageId: string
  readonly recipientNo: number
}

/** The end of a page. */
export interface Cursor {
  readonly place: Place
  /** The account's last message when the first page was read. Later messages are not in any of the pages. */
  readonly until: string
  /** Counted with the first page. */
  readonly total: number
  /** Whether there may be more than `total`. */
  readonly isMinimum: boolean
  /** The first page contains nothing that was committed later; see reads.ts. */
  readonly seenUntil: number | undefined
}

const LENGTH = 44
/** With `seenUntil`. */
const LONGER = 52
const MAC = 16
const PURPOSE = 'event log'

/** Returns a cursor as an opaque text, valid only for this account and query. */
export function sealCursor(secrets: Secrets, question: LogQuery, cursor: Cursor): string {
  const { place, until, total, isMinimum, seenUntil } = cursor
  const plain = Buffer.alloc(seenUntil === undefined ? LENGTH : LONGER)
  plain.write(place.messageId.replaceAll('-', ''), 0, 'hex')
  plain.writeUInt32BE(place.recipientNo, 16)
  plain.write(until.replaceAll('-', ''), 20, 'hex')
  plain.writeDoubleBE(isMinimum ? -1 - total : total, 36)
  if (seenUntil !== undefined) plain.writeDoubleBE(seenUntil, 44)
  return Buffer.concat([plain, secrets.mac(PURPOSE, signed(question, plain)).subarray(0, MAC)]).toString('base64url')
}

/** Reads a cursor. Throws parameterInvalid (scrollid) if it was forged or belongs to another account or query. */
export function openCursor(secrets: Secrets, question: LogQuery, text: string): Cursor {
  const octets = Buffer.from(text.slice(0, 200), 'base64url')
  const length = octets.length - MAC
  const plain = octets.subarray(0, length)
  const isWhole = length === LENGTH || length === LONGER
  if (!isWhole || !secrets.isMac(PURPOSE, signed(question, plain), octets.subarray(length))) {
    throw invalidParameter(
      'scrollid',
      'must be the scrollid of the previous page, sent with otherwise identical parameters',
    )
  }
  const total = plain.readDoubleBE(36)
  return {
    place: { messageId: uuid(plain.subarray(0, 16)), recipientNo: plain.readUInt32BE(16) },
    until: uuid(plain.subarray(20, 36)),
    total: total < 0 ? -1 - total : total,
    isMinimum: total < 0,
    seenUntil: length === LONGER ? plain.readDoubleBE(44) : undefined,
  }
}

function signed(question: LogQuery, plain: Buffer): Buffer {
  const { accountId, first, last, sort, email, from, subject, reference, messageId } = question
  const events = [...(question.events ?? [])].map((word) => word.toLowerCase()).sort()
  const query = JSON.stringify([accountId, first, last, sort, events, email, from, subject, reference, messageId])
  return Buffer.concat([plain, Buffer.from(query)])
}

function uuid(octets: Buffer): string {
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
