import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { createFairTurns, type FairTurns } from '../concurrency/fair-turns.ts'
import { ServiceError } from '../errors.ts'
import { sameSecret } from './secrets.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** The parameters of scrypt (RFC 7914 2), which a stored password names. */
export interface PasswordCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/**
 * One of the equivalent settings of OWASP's password storage cheat sheet. It needs 16 MB, which is safe for many hashes
 * at once.
 */
export const PASSWORD_COST: PasswordCost = { N: 16_384, r: 8, p: 5 }
const HASH_LENGTH = 32
const MIN_LENGTH = 8
const MAX_LENGTH = 200
/** Passwords that wait for their turn: at a fifth of a second each, the last one waits for some five seconds. */
const MAX_WAITING = 24
/** Of one user, network or account: a third, so that the others find a place. */
const MAX_WAITING_EACH = 8

/** Throws passwordWeak unless it has 8 to 200 characters. */
export function requireLength(password: string): void {
  if (password.length >= MIN_LENGTH && password.length <= MAX_LENGTH) return
  throw weak(`must have ${MIN_LENGTH} to ${MAX_LENGTH} characters`)
}

/** Throws passwordWeak unless it has 8 to 200 characters, with an upper-case and a lower-case letter and a digit. */
export function requireStrong(password: string): void {
  requireLength(password)
  const wanted: readonly (readonly [boolean, string])[] = [
    [/\p{Lu}/u.test(password), 'must contain an upper-case letter'],
    [/\p{Ll}/u.test(password), 'must contain a lower-case letter'],
    [/\p{Nd}/u.test(password), 'must contain a digit'],
  ]
  for (const [isMet, problem] of wanted) if (!isMet) throw weak(problem)
}

/** Returns a passwordWeak error. `problem` is a predicate: "must contain a digit". */
export function weak(problem: string): ServiceError {
  return new ServiceError('passwordWeak', { values: { problem } })
}

/**
 * Returns the stored form of a password: `scrypt$N$r$p$salt$hash`, salt and hash in base64. `who`: those who have passwords that wait take turns.
 * Throws overloaded if too many are waiting.
 */
export type HashPassword = (password: string, who: string) => Promise<string>

/** Hashes one password at a time: concurrent hashes would occupy the threads that compress message bodies. */
export function passwordHasher(cost: PasswordCost): HashPassword {
  const turns = createFairTurns({ capacity: 1, waiting: MAX_WAITING, each: MAX_WAITING_EACH })
  return (password, who) => turns.take(who, () => hashPassword(password, cost))
}

/**
 * Those who wait in different queues, which take turns: log-ins from a network that the user has logged in from before, other log-ins, users who are
 * logged in, and people with a link. So a stranger keeps no user out, unless they share a network.
 */
const QUEUES = ['known', 'log-in', 'user', 'link'] as const

export interface PasswordTurn {
  readonly queue: (typeof QUEUES)[number]
  /** The user, or the block of addresses of a client without one: within a queue, these take turns. */
  readonly who: string
}

/** Hashing and comparison of passwords that anyone may send: one at a time, with bounded queues. */
export interface PasswordCheck {
  /** Throws overloaded if too many passwords are waiting in the same queue. */
  hash(password: string, turn: PasswordTurn): Promise<string>
  /**
   * Whether the password is the stored one. Takes the same time without a stored one, so that the time does not show
   * which users exist. Throws overloaded if too many passwords are waiting in the same queue.
   */
  matches(password: string, stored: string | null, turn: PasswordTurn): Promise<boolean>
}

export function createPasswordCheck(cost: PasswordCost): PasswordCheck {
  /** Takes the place of the stored password of an unknown user. */
  const none: Stored = { salt: randomBytes(16), hash: randomBytes(HASH_LENGTH), cost }
  const inside = () => createFairTurns({ capacity: 1, waiting: MAX_WAITING, each: MAX_WAITING_EACH })
  const queues = new Map(QUEUES.map((queue) => [queue, inside()]))
  // Here each queue has one that waits, at most.
  const among = createFairTurns({ capacity: 1, waiting: QUEUES.length, each: 1 })
  const inTurn = <T>({ queue, who }: PasswordTurn, work: () => Promise<T>): Promise<T> =>
    (queues.get(queue) as FairTurns).take(who, () => among.take(queue, work))
  return {
    hash: (password, turn) => inTurn(turn, () => hashPassword(password, cost)),
    matches: (password, stored, turn) => inTurn(turn, () => isSame(password, stored, none)),
  }
}

async function hashPassword(password: string, { N, r, p }: PasswordCost): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(normal(password), salt, HASH_LENGTH, { N, r, p })
  return ['scrypt', N, r, p, salt.toString('base64'), hash.toString('base64')].join('$')
}

interface Stored {
  readonly salt: Buffer
  readonly hash: Buffer
  readonly cost: PasswordCost
}

async function isSame(password: string, stored: string | null, none: Stored): Promise<boolean> {
  const { salt, hash, cost } = (stored === null ? undefined : read(stored)) ?? none
  // An overlong text is never a password, and is not worth the time to hash it.
  const derived = await derive(normal(password.slice(0, MAX_LENGTH + 1)), salt, hash.length, cost)
  return sameSecret(derived, hash) && stored !== null && password.length <= MAX_LENGTH
}

function read(stored: string): Stored | undefined {
  const [algorithm, N, r, p, salt = '', hash = ''] = stored.split('$')
  if (algorithm !== 'scrypt') return undefined
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  return { salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64'), cost }
}

/** NFC, so that a password does not depend on the keyboard it was typed with (RFC 8265 4.2). */
function normal(password: string): string {
  return password.normalize('NFC')
}
