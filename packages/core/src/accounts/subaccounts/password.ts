import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { ServiceError } from '../../platform/errors.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
/**
 * One of the equivalent settings of OWASP's password storage cheat sheet. It needs 16 MB, which is safe for many hashes
 * at once.
 */
const COST = { N: 16_384, r: 8, p: 5 }
const MIN_LENGTH = 8
const MAX_LENGTH = 200

/** Throws passwordWeak unless it has 8 to 200 characters, with an upper-case and a lower-case letter and a digit. */
export function requireStrong(password: string): void {
  const wanted: readonly (readonly [boolean, string])[] = [
    [
      password.length >= MIN_LENGTH && password.length <= MAX_LENGTH,
      `must have ${MIN_LENGTH} to ${MAX_LENGTH} characters`,
    ],
    [/\p{Lu}/u.test(password), 'must contain an upper-case letter'],
    [/\p{Ll}/u.test(password), 'must contain a lower-case letter'],
    [/\p{Nd}/u.test(password), 'must contain a digit'],
  ]
  for (const [isMet, problem] of wanted) if (!isMet) throw new ServiceError('passwordWeak', { values: { problem } })
}

/** Returns the stored form of a password: `scrypt$N$r$p$salt$hash`, salt and hash in base64. */
export type HashPassword = (password: string) => Promise<string>

/** Hashes one password at a time: concurrent hashes would occupy the threads that compress message bodies. */
export function passwordHasher(): HashPassword {
  let last: Promise<unknown> = Promise.resolve()
  return (password) => {
    const hashed = last.then(() => hashPassword(password))
    last = hashed.catch(() => {})
    return hashed
  }
}

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  // NFC, so that a password does not depend on the keyboard it was typed with (RFC 8265 4.2).
  const hash = await derive(password.normalize('NFC'), salt, 32, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64'), hash.toString('base64')].join('$')
}
