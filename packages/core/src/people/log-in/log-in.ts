import { parseAddress } from '../../mime/address.ts'
import type { Clock } from '../../platform/clock.ts'
import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { DatabaseClock } from '../../platform/database/database-clock.ts'
import { ServiceError } from '../../platform/errors.ts'
import { blockOf } from '../../platform/net/networks.ts'
import type { PasswordCheck } from '../../platform/security/passwords.ts'
import { findHolder, makeHolder } from '../holders.ts'
import { makeLink } from '../links.ts'
import type { Client, LogInMethod } from '../person.ts'
import type { SessionKeeper } from '../sessions.ts'
import { type StoredUser, selectUser, selectUserByEmail } from '../users.ts'
import { isKnownNetwork } from './known-networks.ts'
import type { LogInLimits, Refused } from './log-in-limits.ts'

/** Ways to complete a log-in after the password. */
export type SecondFactor = 'code' | 'passkey' | 'recovery-code'

export type LogInResult =
  | { readonly kind: 'session'; readonly token: string; readonly userId: number }
  /** The challenge is for `secondFactor` or `passkeys.begin`, and valid for 10 minutes. */
  | { readonly kind: 'second-factor'; readonly challenge: string; readonly methods: readonly SecondFactor[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too-many'; readonly until: Date }

export interface LogIn extends Client {
  /** The address of a user, or the full name of a subaccount: `parent/username`. */
  readonly email: string
  readonly password: string
  /** The token of the session that the browser had before; that session ends. */
  readonly replaces?: string | undefined
}

export interface LogInDependencies {
  readonly sql: Sql
  readonly clock: DatabaseClock
  readonly passwords: PasswordCheck
  readonly limits: LogInLimits
  readonly sessions: SessionKeeper
  /** OIDC_ONLY: passwords are refused. */
  readonly oidcOnly: boolean
}

const CHALLENGE_MINUTES = 10
/** Seconds after which a client may try again if too many passwords are being checked. */
const BUSY_SECONDS = 10

/**
 * Logs a user in by password. The answer, and the time it takes, are the same for a wrong password and for an unknown or
 * disabled user.
 */
export async function logIn(dependencies: LogInDependencies, request: LogIn): Promise<LogInResult> {
  const { sql, limits, passwords, oidcOnly } = dependencies
  if (oidcOnly) return { kind: 'refused' }
  const name = request.email.trim().toLowerCase()
  const allowed = await limits.logIn(name, request.address)
  if (!allowed.allowed) return tooMany(dependencies.clock, allowed)
  const user = await findUser(sql, name)
  const usable = user && !user.disabled ? user : undefined
  const isKnown = await isKnownNetwork(sql, usable?.id ?? 0, request.address)
  // A user who is known in many networks has the turns of one.
  const turn = isKnown
    ? ({ queue: 'known', who: `user ${usable?.id}` } as const)
    : ({ queue: 'log-in', who: blockOf(request.address) } as const)
  let isRight: boolean
  try {
    isRight = await passwords.matches(request.password, usable?.password ?? null, turn)
  } catch (error) {
    if (!(error instanceof ServiceError && error.errorName === 'overloaded')) throw error
    allowed.release()
    return tooMany(dependencies.clock, { allowed: false, retryAfter: BUSY_SECONDS })
  }
  if (!isRight || !usable) return { kind: 'refused' }
  allowed.release()
  const known = usable.id === 0 ? await makeHolder(sql, usable) : usable
  return continueLogIn(dependencies, { ...known, password: usable.password }, 'password', request)
}

/**
 * Makes the session, or asks for the second factor that the user has. Refused if the password has changed since it was checked, which takes a while:
 * the change ends all sessions that were made with the former one.
 */
export async function continueLogIn(
  { sql, sessions }: Pick<LogInDependencies, 'sql' | 'sessions'>,
  user: StoredUser,
  method: LogInMethod,
  { address, agent, replaces }: Client & { readonly replaces?: string | undefined },
): Promise<LogInResult> {
  return sql.begin(async (transaction): Promise<LogInResult> => {
    if (method === 'password' && !(await isUnchanged(transaction, user))) return { kind: 'refused' }
    if (user.secondFactor && method === 'password') {
      const link = { purpose: 'second-factor', userId: user.id, minutes: CHALLENGE_MINUTES } as const
      const { token } = await makeLink(transaction, link)
      return { kind: 'second-factor', challenge: token, methods: methodsOf(user) }
    }
    const token = await sessions.begin(transaction, user.id, method, { address, agent }, replaces)
    return { kind: 'session', token, userId: user.id }
  }) as Promise<LogInResult>
}

/** Waits for a change of the password that is under way, and keeps others waiting until the end of the transaction. */
async function isUnchanged(sql: SqlTransaction, { id, holderOf, password }: StoredUser): Promise<boolean> {
  if (holderOf !== null) await sql`select from accounts where id = ${holderOf} for share`
  const now = await selectUser(sql, id, { lock: true })
  return now !== undefined && !now.disabled && now.password === password
}

export function tooMany(clock: Clock, { retryAfter }: Refused): { kind: 'too-many'; until: Date } {
  return { kind: 'too-many', until: new Date(clock.now() + retryAfter * 1000) }
}

function methodsOf({ totp, passkeys }: StoredUser): SecondFactor[] {
  return [...(passkeys > 0 ? (['passkey'] as const) : []), ...(totp ? (['code'] as const) : []), 'recovery-code']
}

/** A user by address, or the holder of a subaccount by its full name. */
async function findUser(sql: AnySql, name: string): Promise<StoredUser | undefined> {
  const address = parseAddress(name)
  const user = address && (await selectUserByEmail(sql, address.key))
  return user ?? (name.includes('/') && !name.includes('\0') && name.length <= 200 ? findHolder(sql, name) : undefined)
}
