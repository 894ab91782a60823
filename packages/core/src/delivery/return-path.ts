import type { Secrets } from '../platform/security/secrets.ts'

/**
 * The return path of one delivery (VERP). It identifies the delivery and is signed, so that a returned bounce can be matched to
 * its delivery and a forged one has no effect (V29).
 *
 *     b-<base32 of: version, message id (16 bytes), recipient number (2), day (2), signature (10)>@host
 */
const MARKS = { returnPath: { prefix: 'b-', version: 1 }, reference: { prefix: 'c-', version: 2 } } as const
/**
 * A reference (X-PR-Ref) is in the message and therefore known to everybody who is shown it, also later. Only complaints are matched by
 * it; no mail is taken for it.
 */
export type MarkKind = keyof typeof MARKS
const PURPOSE = 'return path'
const SIGNATURE = 10
const PAYLOAD = 1 + 16 + 2 + 2
const DAY_MS = 86_400_000
/** Days a return path is valid: three of retries here, five of retries at remote servers, and a margin. */
const VALID_DAYS = 30
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const DIGITS = Buffer.from(ALPHABET)

export interface ReturnPathTarget {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
}

/** Returns the local part of a delivery's return path, or its reference: 52 characters, case-insensitive. */
export function makeMark(secrets: Secrets, kind: MarkKind, target: ReturnPathTarget, since: number): string {
  const { prefix, version } = MARKS[kind]
  const payload = Buffer.alloc(PAYLOAD)
  payload[0] = version
  payload.write(target.messageId, 1, 'hex')
  payload.writeUInt16BE(target.recipientNo, 17)
  payload.writeUInt16BE(Math.floor(since / DAY_MS), 19)
  return prefix + toBase32(Buffer.concat([payload, secrets.mac(PURPOSE, payload).subarray(0, SIGNATURE)]))
}

/** Returns the delivery that a mark of this kind identifies; undefined if it is not signed by this service, altered or older than `validDays`. */
export function readMark(
  secrets: Secrets,
  kind: MarkKind,
  { local, now, validDays = VALID_DAYS }: { readonly local: string; readonly now: number; readonly validDays?: number },
): ReturnPathTarget | undefined {
  const { prefix, version } = MARKS[kind]
  const text = local.toLowerCase()
  if (!text.startsWith(prefix)) return undefined
  const bytes = fromBase32(text.slice(prefix.length))
  if (bytes?.length !== PAYLOAD + SIGNATURE || bytes[0] !== version) return undefined
  const payload = bytes.subarray(0, PAYLOAD)
  if (!secrets.isMac(PURPOSE, payload, bytes.subarray(PAYLOAD))) return undefined
  const age = Math.floor(now / DAY_MS) - payload.readUInt16BE(19)
  // Tolerates one day in the future, because the clocks of two hosts differ around midnight.
  if (age < -1 || age > validDays) return undefined
  return { messageId: payload.toString('hex', 1, 17), recipientNo: payload.readUInt16BE(17) }
}

/** Written to octets, because a text to which characters are added one by one keeps an object for each of them while the conversation lasts. */
function toBase32(bytes: Buffer): string {
  const text = Buffer.alloc(Math.ceil((bytes.length * 8) / 5))
  let [length, bits, value] = [0, 0, 0]
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text[length++] = DIGITS[(value >>> bits) & 31] as number
    }
    value &= (1 << bits) - 1
  }
  if (bits > 0) text[length] = DIGITS[(value << (5 - bits)) & 31] as number
  return text.toString('latin1')
}

function fromBase32(text: string): Buffer | undefined {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const char of text) {
    const digit = ALPHABET.indexOf(char)
    if (digit === -1) return undefined
    value = (value << 5) | digit
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push(value >>> bits)
      value &= (1 << bits) - 1
    }
  }
  // A valid return path has no superfluous character and zeros in the unused bits, so each value has exactly one spelling.
  return bits < 5 && (value & ((1 << bits) - 1)) === 0 ? Buffer.from(bytes) : undefined
}
