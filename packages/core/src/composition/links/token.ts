import type { Secrets } from '../../platform/secrets.ts'

/** What a tracking link stands for. Everything it takes is in the link itself: it is good for as long as somebody keeps the mail. */
export interface TrackingTarget {
  readonly kind: 'open' | 'click' | 'unsubscribe'
  readonly accountId: number
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** unsubscribe: the group to leave; 0: all mail. */
  readonly group: number
  /** click: which link of the message, from 0, and where it leads. */
  readonly link: number
  readonly url: string
}

const KINDS = ['open', 'click', 'unsubscribe'] as const
const CONTEXT = 'tracking'
const HEAD = 1 + 4 + 16 + 4 + 4 + 2
/** Characters of a token of the longest URL; more is not looked at. */
const LONGEST = 16_384

/**
 * An opaque, unforgeable token for a URL's path: sealed, so that it tells its reader nothing, and the same at every attempt, so
 * that a retry sends the same octets.
 */
export function makeTrackingToken(secrets: Secrets, target: TrackingTarget): string {
  const head = Buffer.alloc(HEAD)
  head.writeUInt8(KINDS.indexOf(target.kind), 0)
  head.writeUInt32BE(target.accountId, 1)
  head.write(target.messageId, 5, 16, 'hex')
  head.writeUInt32BE(target.recipientNo, 21)
  head.writeUInt32BE(target.group, 25)
  head.writeUInt16BE(target.link, 29)
  return secrets.sealFixed(Buffer.concat([head, Buffer.from(target.url)]), CONTEXT).toString('base64url')
}

/** Undefined when it was not made by {@link makeTrackingToken} under this SECRET_KEY, or was altered in any octet. */
export function readTrackingToken(secrets: Secrets, token: string): TrackingTarget | undefined {
  if (token.length > LONGEST || !/^[\w-]+$/.test(token)) return undefined
  const box = Buffer.from(token, 'base64url')
  // Unused bits of the last character would make several tokens of one.
  if (box.toString('base64url') !== token) return undefined
  let plain: Buffer
  try {
    plain = secrets.open(box, CONTEXT)
  } catch {
    return undefined
  }
  const kind = KINDS[plain[0] ?? -1]
  if (!kind || plain.length < HEAD) return undefined
  return {
    kind,
    accountId: plain.readUInt32BE(1),
    messageId: plain.toString('hex', 5, 21),
    recipientNo: plain.readUInt32BE(21),
    group: plain.readUInt32BE(25),
    link: plain.readUInt16BE(29),
    url: plain.toString('utf8', HEAD),
  }
}
