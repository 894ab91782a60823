import { type Secrets, sameSecret } from '../platform/secrets.ts'

/**
 * The return path of one delivery (VERP): it names the delivery and is signed, so that a bounce that comes back is tied to
 * its delivery and a forged one changes nothing (V29).
 *
 *     b-<base32 of: version, message id (16 octets), recipient number (2), day (2), signature (10)>@host
 */
const PREFIX = 'b-'
const VERSION = 1
const SIGNATURE = 10
const PAYLOAD = 1 + 16 + 2 + 2
const DAY_MS = 86_400_000
/** Days a return path is good for: three of retries, five that remote servers keep trying, and some to spare. */
const VALID_DAYS = 30
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

export interface ReturnPathTarget {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
}

/** The local part of a delivery's return path: 52 characters, case does not matter. */
export function makeReturnPath(secrets: Secrets, target: ReturnPathTarget, since: number): string {
  const payload = Buffer.alloc(PAYLOAD)
  payload[0] = VERSION
  payload.write(target.messageId, 1, 'hex')
  payload.writeUInt16BE(target.recipientNo, 17)
  payload.writeUInt16BE(Math.floor(since / DAY_MS), 19)
  return PREFIX + toBase32(Buffer.concat([payload, sign(secrets, payload)]))
}

/** The delivery a return path names, or undefined when it is not ours, altered, or too old. */
export function readReturnPath(secrets: Secrets, local: string, now: number): ReturnPathTarget | undefined {
  const text = local.toLowerCase()
  if (!text.startsWith(PREFIX)) return undefined
  const octets = fromBase32(text.slice(PREFIX.length))
  if (octets?.length !== PAYLOAD + SIGNATURE || octets[0] !== VERSION) return undefined
  const payload = octets.subarray(0, PAYLOAD)
  if (!sameSecret(octets.subarray(PAYLOAD), sign(secrets, payload))) return undefined
  const age = Math.floor(now / DAY_MS) - payload.readUInt16BE(19)
  // A day of slack: hosts' clocks differ around midnight.
  if (age < -1 || age > VALID_DAYS) return undefined
  return { messageId: payload.toString('hex', 1, 17), recipientNo: payload.readUInt16BE(17) }
}

function sign(secrets: Secrets, payload: Buffer): Buffer {
  return secrets.mac('return path', payload).subarray(0, SIGNATURE)
}

function toBase32(octets: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const octet of octets) {
    value = (value << 8) | octet
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >>> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}

function fromBase32(text: string): Buffer | undefined {
  const octets: number[] = []
  let bits = 0
  let value = 0
  for (const char of text) {
    const digit = ALPHABET.indexOf(char)
    if (digit === -1) return undefined
    value = (value << 5) | digit
    bits += 5
    if (bits >= 8) {
      bits -= 8
      octets.push(value >>> bits)
      value &= (1 << bits) - 1
    }
  }
  // What we made has no character too many, and zeros in the bits left over: there is one spelling, any other is not ours.
  return bits < 5 && (value & ((1 << bits) - 1)) === 0 ? Buffer.from(octets) : undefined
}
