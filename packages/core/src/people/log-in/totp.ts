import { Secret, TOTP } from 'otpauth'
import { type Actor, ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import type { DatabaseClock } from '../../platform/database/database-clock.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { SealedColumn } from '../../platform/security/key-rotation.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { requireLive, type Session, type SessionKeeper } from '../sessions.ts'
import type { LogInLimits } from './log-in-limits.ts'
import { requireFresh } from './reauthenticate.ts'
import { makeRecoveryCodes } from './recovery-codes.ts'

/** One-time codes of an authenticator app (RFC 6238): SHA-1, six digits, 30 seconds, which all apps support. */
export interface Totp {
  /**
   * A new secret, which counts once it is confirmed. Show `url` as a QR code, and `secret` for typing.
   *
   * Throws reauthenticationNeeded, and parameterInvalid (totp) if codes are already set up.
   */
  begin(session: Session): Promise<{ secret: string; url: string }>
  /** Returns ten recovery codes, shown once. Throws codeInvalid, reauthenticationNeeded. */
  confirm(session: Session, code: string, address: string): Promise<{ recoveryCodes: string[] }>
  /** Replaces the recovery codes. Throws reauthenticationNeeded, and parameterInvalid without a second factor. */
  newRecoveryCodes(session: Session, address: string): Promise<string[]>
  /** Whether codes are set up and confirmed. */
  isOn(userId: number): Promise<boolean>
  /** The number of recovery codes that were not used. */
  recoveryCodesLeft(userId: number): Promise<number>
  /** Throws reauthenticationNeeded. The recovery codes remain if the user has passkeys. */
  remove(session: Session, address: string): Promise<void>
}

const PERIOD = 30
/** Steps before and after the present one that are accepted, for clocks that differ. */
const WINDOW = 1

export interface TotpDependencies {
  readonly sql: Sql
  readonly clock: DatabaseClock
  readonly secrets: Secrets
  readonly sessions: SessionKeeper
  readonly limits: LogInLimits
  /** Host of PUBLIC_URL, shown in the app. */
  readonly issuer: string
}

export function createTotp(dependencies: TotpDependencies): Totp {
  const { sql, clock, secrets, sessions, issuer, limits } = dependencies
  return {
    async begin(session) {
      requireFresh(session, clock)
      const { user } = session
      const secret = new Secret({ size: 20 })
      const sealed = secrets.seal(Buffer.from(secret.bytes), contextOf(user.id))
      const rows = await sql`
        update users set totp_secret = ${sealed}, totp_step = null where id = ${user.id} and totp_confirmed_at is null`
      if (rows.count === 0) throw invalidParameter('totp', 'is already set up; remove it first')
      const url = new TOTP({ issuer, label: user.email ?? user.name, secret, period: PERIOD }).toString()
      return { secret: secret.base32, url }
    },
    async confirm(session, code, address) {
      requireFresh(session, clock)
      const { sessionId, user } = session
      const { id } = user
      const allowed = await limits.code(id)
      if (!allowed.allowed) throw new ServiceError('codeInvalid')
      const recoveryCodes = (await sql.begin(async (transaction) => {
        await requireLive(transaction, { sessionId, userId: id })
        if (!(await useCode(transaction, dependencies, id, code, { confirmed: false })))
          throw new ServiceError('codeInvalid')
        await transaction`update users set totp_confirmed_at = service_now() where id = ${id}`
        await note(transaction, id, address, 'user.totp')
        return makeRecoveryCodes(transaction, id)
      })) as string[]
      allowed.release()
      sessions.forget()
      return { recoveryCodes }
    },
    async newRecoveryCodes(session, address) {
      requireFresh(session, clock)
      const { id, secondFactor } = session.user
      if (!secondFactor) throw invalidParameter('user', 'has no second factor')
      return sql.begin(async (transaction) => {
        await requireLive(transaction, { sessionId: session.sessionId, userId: id })
        await note(transaction, id, address, 'user.recovery-codes')
        return makeRecoveryCodes(transaction, id)
      }) as Promise<string[]>
    },
    async isOn(userId) {
      const rows = await sql`select from users where id = ${userId} and totp_confirmed_at is not null`
      return rows.count > 0
    },
    async recoveryCodesLeft(userId) {
      const rows = await sql`select from recovery_codes where user_id = ${userId}`
      return rows.count
    },
    async remove(session, address) {
      requireFresh(session, clock)
      const { sessionId, user } = session
      const { id } = user
      await sql.begin(async (transaction) => {
        await requireLive(transaction, { sessionId, userId: id })
        await transaction`
          update users set totp_secret = null, totp_confirmed_at = null, totp_step = null where id = ${id}`
        await transaction`
          delete from recovery_codes where user_id = ${id} and not exists (select from passkeys where user_id = ${id})`
        await note(transaction, id, address, 'user.totp-remove')
      })
      sessions.forget()
    },
  }
}

function note(sql: AnySql, userId: number, address: string, action: string): Promise<void> {
  const by: Actor = { keyId: null, userId, address }
  return noteChange(sql, { accountId: ALL_ACCOUNTS, by, action, object: `user ${userId}` })
}

/**
 * Whether the code is valid now. A code is used once: its time step, and those before it, are not accepted again in any process
 * (RFC 6238 5.2).
 */
export async function useCode(
  sql: AnySql,
  { secrets, clock }: Pick<TotpDependencies, 'secrets' | 'clock'>,
  userId: number,
  code: string,
  { confirmed }: { readonly confirmed: boolean },
): Promise<boolean> {
  const token = code.replaceAll(' ', '')
  if (!/^\d{6}$/.test(token)) return false
  const [row] = await sql<{ secret: Buffer }[]>`
    select totp_secret as secret from users
     where id = ${userId} and totp_secret is not null and (totp_confirmed_at is not null) = ${confirmed}`
  if (!row) return false
  const plain = secrets.open(row.secret, contextOf(userId))
  const buffer = new Uint8Array(plain).buffer
  // The app that made the code has the world's time, also where the clock of a sandbox was moved.
  const now = clock.worldNow()
  const delta = new TOTP({ secret: new Secret({ buffer }), period: PERIOD }).validate({
    token,
    timestamp: now,
    window: WINDOW,
  })
  if (delta === null) return false
  const step = Math.floor(now / 1000 / PERIOD) + delta
  const rows = await sql`
    update users set totp_step = ${step} where id = ${userId} and (totp_step is null or totp_step < ${step})`
  return rows.count > 0
}

/** The stored values that are sealed here. */
export const SEALED_TOTP_SECRETS: SealedColumn = {
  what: 'second factors',
  table: 'users',
  keyType: 'int',
  column: 'totp_secret',
  context: (sql) => sql`'totp ' || t.id`,
}

function contextOf(userId: number): string {
  return `totp ${userId}`
}
