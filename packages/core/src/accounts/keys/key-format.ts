import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * An API key: `pr_`, 27 random base-62 characters (160 bits), 6 characters of checksum. The prefix lets secret scanners
 * find leaked keys; the checksum detects mistyped keys without a database query.
 *
 * Reserved: `pr_c2_`, and the same with other numbers, for keys of accounts in other cells (docs/scaling.md#cells). No key that was ever
 * valid has this form, since `_` is none of the characters.
 */
const PREFIX = 'pr_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 27
const CHECK_LENGTH = 6

export function makeApiKey(): string {
  const random = inBase62(BigInt(`0x${randomBytes(20).toString('hex')}`), RANDOM_LENGTH)
  return PREFIX + random + checksum(random)
}

/** Whether the text has the form and checksum of a key. Does not check whether the key exists. */
export function looksLikeApiKey(text: string): boolean {
  if (text.length !== PREFIX.length + RANDOM_LENGTH + CHECK_LENGTH || !text.startsWith(PREFIX)) return false
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  return (
    [...random].every((character) => ALPHABET.includes(character)) && checksum(random) === text.slice(-CHECK_LENGTH)
  )
}

/** The hash of a key that the database stores. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** The first characters of a key, shown in lists. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX.length + 6)
}

function checksum(random: string): string {
  let text = ''
  for (let rest = crc32(random); text.length < CHECK_LENGTH; rest = Math.floor(rest / 62))
    text = ALPHABET[rest % 62] + text
  return text
}

function inBase62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text
  return text
}
