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
/** Maximum length of a token in characters, enough for the longest URL. Longer ones are rejected unread. */
const MAX_LENGTH = 16_384

/**
 * Returns an opaque, unforgeable token for the path of a URL. It is encrypted, so that it reveals nothing, and deterministic, so
 * that a retry sends the same bytes.
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

/** Returns undefined if the token was not made by {@link makeTrackingToken} with this SECRET_KEY or was altered. */
export function readTrackingToken(secrets: Secrets, token: string): TrackingTarget | undefined {
  if (token.length > MAX_LENGTH || !/^[\w-]+$/.test(token)) return undefined
  const box = Buffer.from(token, 'base64url')
  // Because the last character has unused bits, several texts decode to the same token; only one is accepted.
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
