import type { Secrets } from '../../platform/security/secrets.ts'

/** The target of a tracking link. The link contains all data it needs, so it does not expire. */
export interface TrackingTarget {
  readonly kind: 'open' | 'click' | 'unsubscribe' | 'preferences'
  readonly accountId: number
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** For unsubscribe, the group to unsubscribe from; 0 for all mail. For preferences, the group of the message. */
  readonly group: number
  /** For click, the index of the link in the message, from 0; `url` is its destination. */
  readonly link: number
  readonly url: string
}

/** The index is part of every token that was sent: names are only added at the end. */
const KINDS = ['open', 'click', 'unsubscribe', 'preferences'] as const
const CONTEXT = 'tracking'
const HEAD = 1 + 4 + 16 + 4 + 4 + 2
/** Maximum length of the box in a token in characters, enough for the longest URL. Longer ones are rejected unread. */
const MAX_LENGTH = 16_384
/** The length of the box is written in three digits of base 64. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const LENGTH_DIGITS = 3
/** Bytes that sealing adds: version, nonce and authentication tag. */
const SEAL_BYTES = 29
/** No URL contains it. */
const PADDING = Buffer.alloc(1)

/**
 * Returns an opaque, unforgeable token for the path of a URL. It is encrypted, so that it reveals nothing, and deterministic, so
 * that a retry sends the same bytes. It begins with the length of what is encrypted, so that whatever a mail program takes for a part of the URL behind
 * it does no harm, and ends with a letter or a digit, since some programs leave out a hyphen or an underscore at the end.
 */
export function makeTrackingToken(secrets: Secrets, target: TrackingTarget): string {
  const head = Buffer.alloc(HEAD)
  head.writeUInt8(KINDS.indexOf(target.kind), 0)
  head.writeUInt32BE(target.accountId, 1)
  head.write(target.messageId, 5, 16, 'hex')
  head.writeUInt32BE(target.recipientNo, 21)
  head.writeUInt32BE(target.group, 25)
  head.writeUInt16BE(target.link, 29)
  const plain = Buffer.concat([head, Buffer.from(target.url)])
  // Three bytes are four characters of base64url. Of one byte or two at the end, the last character is never "-" or "_".
  const isWhole = (plain.length + SEAL_BYTES) % 3 === 0
  const sealed = secrets.sealFixed(isWhole ? Buffer.concat([plain, PADDING]) : plain, CONTEXT)
  const box = sealed.toString('base64url')
  return writeLength(box.length) + box
}

/**
 * Reads the token that a text begins with, whatever follows it. Returns undefined if it was not made by {@link makeTrackingToken} with this SECRET_KEY or
 * was altered.
 */
export function readTrackingToken(secrets: Secrets, text: string): TrackingTarget | undefined {
  const [run = ''] = /^[\w-]*/.exec(text) as RegExpExecArray
  const length = readLength(run)
  const plain =
    (length <= run.length - LENGTH_DIGITS
      ? open(secrets, run.slice(LENGTH_DIGITS, LENGTH_DIGITS + length))
      : undefined) ??
    // A token of mail that was sent before tokens began with their length.
    open(secrets, run)
  const kind = plain && KINDS[plain[0] ?? -1]
  if (!kind || plain.length < HEAD) return undefined
  return {
    kind,
    accountId: plain.readUInt32BE(1),
    messageId: plain.toString('hex', 5, 21),
    recipientNo: plain.readUInt32BE(21),
    group: plain.readUInt32BE(25),
    link: plain.readUInt16BE(29),
    url: plain.toString('utf8', HEAD, plain.at(-1) === 0 && plain.length > HEAD ? plain.length - 1 : plain.length),
  }
}

function open(secrets: Secrets, text: string): Buffer | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const box = Buffer.from(text, 'base64url')
  // Because the last character has unused bits, several texts decode to the same token; only one is accepted.
  if (box.toString('base64url') !== text) return undefined
  try {
    return secrets.open(box, CONTEXT)
  } catch {
    return undefined
  }
}

function writeLength(length: number): string {
  return [length >> 12, (length >> 6) & 63, length & 63].map((digit) => DIGITS[digit]).join('')
}

function readLength(text: string): number {
  return [...text.slice(0, LENGTH_DIGITS)].reduce((sum, digit) => sum * 64 + DIGITS.indexOf(digit), 0)
}
