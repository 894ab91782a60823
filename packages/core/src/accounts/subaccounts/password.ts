import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { ServiceError } from '../../platform/errors.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
/** One of the settings OWASP's password storage page holds equal; this one needs 16 MB, so many at once are no danger. */
const COST = { N: 16_384, r: 8, p: 5 }
const LEAST = 8
const MOST = 200

/** Throws passwordWeak unless it has 8 to 200 characters, with an upper-case and a lower-case letter and a digit. */
export function requireStrong(password: string): void {
  const wanted: readonly (readonly [boolean, string])[] = [
    [password.length >= LEAST && password.length <= MOST, `must have ${LEAST} to ${MOST} characters`],
    [/\p{Lu}/u.test(password), 'must contain an upper-case letter'],
    [/\p{Ll}/u.test(password), 'must contain a lower-case letter'],
    [/\p{Nd}/u.test(password), 'must contain a digit'],
  ]
  for (const [fine, problem] of wanted) if (!fine) throw new ServiceError('passwordWeak', { values: { problem } })
}

/** Answers what is stored of a password: `scrypt$N$r$p$salt$hash`, both in base64. */
export type HashPassword = (password: string) => Promise<string>

/** Hashes one password at a time: more would keep the threads busy that deflate the bodies of mail. */
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
