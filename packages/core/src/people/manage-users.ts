import { type Actor, ALL_ACCOUNTS, noteChange } from '../accounts/audit/index.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { PasswordCheck } from '../platform/security/passwords.ts'
import { dropLinks } from './links.ts'
import { requireUncommon } from './log-in/common-passwords.ts'
import { addMember, requireOtherOwner, validRole } from './members.ts'
import { addOperator } from './operators.ts'
import { deleteSessions, requireLive, rotateSessions, type SessionKeeper } from './sessions.ts'
import { insertUser, lockOperators, requireUser, validEmail, validPersonName } from './users.ts'

/** A user as the operator sees them. */
export interface UserSummary {
  readonly id: number
  readonly name: string
  readonly email: string | null
  readonly operator: boolean
  readonly secondFactor: boolean
  readonly verified: boolean
  readonly disabled: boolean
  readonly createdAt: Date
  readonly lastSeenAt: Date | null
  /** Each as `account 12: owner`. */
  readonly roles: readonly string[]
}

/** A user to be made, with the role in an account and the rights that they get at once. */
export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly membership?: { readonly accountId: number; readonly role: string } | undefined
  readonly isOperator?: boolean | undefined
}

/** Changes of users by the operator, and of users by themselves. */
export interface Users {
  /** By id, behind `after`; at most `limit`. */
  list(page?: { readonly after?: number; readonly limit?: number }): Promise<UserSummary[]>
  /** The id of the user with this address; undefined if there is none. */
  find(email: string): Promise<number | undefined>
  /** Makes a user for the operator, who sets the password by a link. Throws parameterInvalid (name, email, account, role), and makes none then. */
  create(person: NewPerson, by: Actor): Promise<number>
  /** Ends the user's sessions and refuses log-ins. Throws parameterInvalid (user), lastOwner. */
  disable(userId: number, by: Actor): Promise<void>
  enable(userId: number, by: Actor): Promise<void>
  /** Removes one-time codes, recovery codes and passkeys of a user who lost them. Ends their sessions. */
  resetSecondFactor(userId: number, by: Actor): Promise<void>
  /**
   * Ends the other sessions. Throws passwordWeak, rateLimited, overloaded, and reauthenticationNeeded if this session has ended. The user must have
   * proved who they are within 10 minutes.
   */
  changePassword(
    userId: number,
    password: string,
    keep: { readonly sessionId: number; readonly address: string },
  ): Promise<void>
  /** Throws parameterInvalid (name). */
  rename(userId: number, name: string): Promise<void>
}

const MAX_LISTED = 1000

export function createUsers({
  sql,
  passwords,
  sessions,
  allowChange,
}: {
  readonly sql: Sql
  readonly passwords: PasswordCheck
  readonly sessions: SessionKeeper
  /** Throws rateLimited. */
  readonly allowChange: (userId: number) => Promise<void>
}): Users {
  /** Makes a change that ends the user's sessions, with an entry in the log of the installation. */
  async function ending(userId: number, by: Actor, action: string, fn: (sql: AnySql) => Promise<unknown>) {
    await sql.begin(async (transaction) => {
      await requireUser(transaction, userId)
      await fn(transaction)
      await deleteSessions(transaction, userId)
      await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action, object: `user ${userId}` })
    })
    sessions.forget()
  }

  return {
    list: ({ after = 0, limit = MAX_LISTED } = {}) => sql<UserSummary[]>`
      select u.id, u.name, u.email, u.verified_at is not null as verified, u.disabled_at is not null as disabled,
             exists (select from operators o where o.user_id = u.id) as operator, u.created_at as "createdAt",
             u.totp_confirmed_at is not null or exists (select from passkeys k where k.user_id = u.id) as "secondFactor",
             u.last_seen_at as "lastSeenAt",
             array(select 'account ' || m.account_id || ': ' || m.role from memberships m where m.user_id = u.id
                    order by m.account_id limit 20) as roles
        from users u where u.id > ${after} order by u.id limit ${Math.min(limit, MAX_LISTED)}`,
    async find(email) {
      const { key } = validEmail(email)
      const [row] = await sql<{ id: number }[]>`select id from users where email_key = ${key}`
      return row?.id
    },
    async create({ membership, isOperator, ...person }, by) {
      const name = validPersonName(person.name)
      const email = validEmail(person.email)
      const member = membership && { accountId: membership.accountId, role: validRole(membership.role) }
      return sql.begin(async (transaction) => {
        const id = await insertUser(transaction, { name, email, password: null, verified: true })
        await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action: 'user.create', object: `user ${id}` })
        if (member) await addMember(transaction, { ...member, userId: id, by })
        if (isOperator) await addOperator(transaction, id, by)
        return id
      }) as Promise<number>
    },
    disable: (userId, by) =>
      ending(userId, by, 'user.disable', async (transaction) => {
        await requireReplaceable(transaction, userId)
        await transaction`update users set disabled_at = coalesce(disabled_at, service_now()) where id = ${userId}`
      }),
    enable: (userId, by) =>
      ending(
        userId,
        by,
        'user.enable',
        (transaction) => transaction`update users set disabled_at = null where id = ${userId}`,
      ),
    resetSecondFactor: (userId, by) =>
      ending(userId, by, 'user.reset-2fa', async (transaction) => {
        await dropSecondFactors(transaction, userId)
        await dropLinks(transaction, userId, ['second-factor', 'passkey-register'])
      }),
    async changePassword(userId, password, { sessionId, address }) {
      const user = await requireUser(sql, userId)
      if (user.holderOf !== null) throw new ServiceError('passwordWeak', { values: { problem: HELD } })
      await requireUncommon(password, [user.name, user.email ?? ''])
      await allowChange(userId)
      const hash = await passwords.hash(password, { queue: 'user', who: `user ${userId}` })
      await sql.begin(async (transaction) => {
        await requireLive(transaction, { sessionId, userId })
        await setPassword(transaction, userId, hash)
        await deleteSessions(transaction, userId, sessionId)
        const by = { keyId: null, userId, address }
        const object = `user ${userId}`
        await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action: 'user.password', object })
      })
      sessions.forget()
    },
    async rename(userId, name) {
      await sql`update users set name = ${validPersonName(name)} where id = ${userId}`
      sessions.forget()
    },
  }
}

const HELD = 'is that of the subaccount, which only the parent account can change'

/** Sets a hashed password; links that could set another one no longer work. */
export async function setPassword(sql: AnySql, userId: number, hash: string): Promise<void> {
  await sql`update users set password = ${hash} where id = ${userId}`
  await dropLinks(sql, userId, ['reset', 'second-factor'])
  await rotateSessions(sql, userId)
}

/** Removes everything with which a user logs in, and ends their sessions. */
export async function dropLogIns(sql: AnySql, userId: number): Promise<void> {
  await sql`update users set password = null where id = ${userId}`
  await dropSecondFactors(sql, userId)
  await dropLinks(sql, userId, ['reset', 'second-factor', 'passkey-register'])
  await deleteSessions(sql, userId)
}

async function dropSecondFactors(sql: AnySql, userId: number): Promise<void> {
  await sql`update users set totp_secret = null, totp_confirmed_at = null, totp_step = null where id = ${userId}`
  await sql`delete from recovery_codes where user_id = ${userId}`
  await sql`delete from passkeys where user_id = ${userId}`
}

/** Throws lastOwner if an account, or the installation, would be without one who can log in. */
async function requireReplaceable(sql: AnySql, userId: number): Promise<void> {
  const owned = await sql<{ accountId: number }[]>`
    select a.id as "accountId" from accounts a join memberships m on m.account_id = a.id
     where m.user_id = ${userId} and m.role = 'owner' and a.deleted_at is null order by a.id for no key update of a`
  for (const { accountId } of owned) await requireOtherOwner(sql, accountId, userId)
  await lockOperators(sql)
  const others = await sql`
    select from operators o join users u on u.id = o.user_id where o.user_id <> ${userId} and u.disabled_at is null limit 1`
  const own = await sql`select from operators where user_id = ${userId}`
  if (own.count > 0 && others.count === 0) throw new ServiceError('lastOwner')
}
