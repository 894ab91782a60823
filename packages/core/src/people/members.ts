import { type Actor, noteChange } from '../accounts/audit/index.ts'
import type { AnySql, Sql, SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { type MemberRole, ROLES } from './roles.ts'
import { rotateSessions, type SessionKeeper } from './sessions.ts'

/** A user with a role in an account. */
export interface Member {
  readonly userId: number
  readonly name: string
  readonly email: string | null
  readonly role: MemberRole
  readonly since: Date
  /** Accurate to about a minute. */
  readonly lastSeenAt: Date | null
  readonly secondFactor: boolean
  readonly disabled: boolean
}

/**
 * The members of an account. A change takes effect in every process within 5 s, and is recorded in the audit log. An account
 * that has members keeps at least one owner who can log in.
 */
export interface Members {
  /** By name; at most 500. */
  list(accountId: number): Promise<Member[]>
  /** Adds a user, for the operator. Throws parameterInvalid (user, account, role) if it is unknown or already a member. */
  add(accountId: number, userId: number, role: string, by: Actor): Promise<Member>
  /** Throws memberUnknown, parameterInvalid (role), lastOwner. The member's sessions get new tokens. */
  change(accountId: number, userId: number, role: string, by: Actor): Promise<Member>
  /** Throws memberUnknown, lastOwner. */
  remove(accountId: number, userId: number, by: Actor): Promise<void>
}

const MAX_MEMBERS = 500

const columns = (sql: AnySql) => sql`
  u.id as "userId", u.name, u.email, m.role, m.created_at as since, u.last_seen_at as "lastSeenAt",
  u.totp_confirmed_at is not null or exists (select from passkeys k where k.user_id = u.id) as "secondFactor",
  u.disabled_at is not null as disabled`

export function createMembers(sql: Sql, sessions: SessionKeeper): Members {
  /** Makes a change of one member, with all members of the account locked, so that the last owner is known. */
  function changing<T>(accountId: number, userId: number, fn: (sql: SqlTransaction, member: Member) => Promise<T>) {
    return sql.begin(async (transaction) => {
      await transaction`select from accounts where id = ${accountId} for no key update`
      const member = await selectMember(transaction, accountId, userId)
      if (!member) throw new ServiceError('memberUnknown')
      const changed = await fn(transaction, member)
      await rotateSessions(transaction, userId)
      return changed
    }) as Promise<T>
  }

  return {
    list: (accountId) => sql<Member[]>`
      select ${columns(sql)} from memberships m join users u on u.id = m.user_id
       where m.account_id = ${accountId} order by lower(u.name), u.id limit ${MAX_MEMBERS}`,
    async add(accountId, userId, role, by) {
      const wanted = validRole(role)
      const added = await sql.begin(async (transaction) => {
        await addMember(transaction, { accountId, userId, role: wanted, by })
        return selectMember(transaction, accountId, userId)
      })
      sessions.forget()
      return added as Member
    },
    async change(accountId, userId, role, by) {
      const wanted = validRole(role)
      const changed = await changing(accountId, userId, async (transaction, member) => {
        if (member.role === wanted) return member
        if (member.role === 'owner') await requireOtherOwner(transaction, accountId, userId)
        // First, since the author may change their own role.
        const values = { before: { role: member.role }, after: { role: wanted } }
        await noteChange(transaction, { accountId, by, action: 'member.change', object: `user ${userId}`, ...values })
        await revokeInvitationsBy(transaction, accountId, userId)
        await transaction`
          update memberships set role = ${wanted} where account_id = ${accountId} and user_id = ${userId}`
        return { ...member, role: wanted }
      })
      sessions.forget()
      return changed
    },
    async remove(accountId, userId, by) {
      await changing(accountId, userId, async (transaction, member) => {
        if (member.role === 'owner') await requireOtherOwner(transaction, accountId, userId)
        const before = { role: member.role }
        await noteChange(transaction, { accountId, by, action: 'member.remove', object: `user ${userId}`, before })
        await transaction`delete from memberships where account_id = ${accountId} and user_id = ${userId}`
        await revokeInvitationsBy(transaction, accountId, userId)
      })
      sessions.forget()
    },
  }
}

/** Invitations are worth what their author is: a former owner must not come back by one. */
async function revokeInvitationsBy(sql: AnySql, accountId: number, userId: number): Promise<void> {
  await sql`
    update invitations set revoked_at = service_now()
     where account_id = ${accountId} and invited_by = ${userId} and accepted_at is null and revoked_at is null`
}

/** Throws parameterInvalid. */
export function validRole(role: string): MemberRole {
  if (!ROLES.includes(role as MemberRole)) throw invalidParameter('role', `must be one of: ${ROLES.join(', ')}`)
  return role as MemberRole
}

/** Throws parameterInvalid (account, user). */
export async function addMember(
  transaction: SqlTransaction,
  { accountId, userId, role, by }: { accountId: number; userId: number; role: MemberRole; by: Actor },
): Promise<void> {
  const [account] = await transaction<{ members: number }[]>`
    select (select count(*)::int from memberships m where m.account_id = a.id) as members
      from accounts a where a.id = ${accountId} and a.deleted_at is null for no key update of a`
  if (!account) throw invalidParameter('account', 'does not exist')
  if (account.members >= MAX_MEMBERS) throw invalidParameter('account', `has ${MAX_MEMBERS} members already`)
  const added = await transaction`
    insert into memberships (account_id, user_id, role)
    select ${accountId}, id, ${role} from users where id = ${userId} on conflict do nothing`
  if (added.count === 0) throw invalidParameter('user', 'does not exist or is already a member')
  await noteChange(transaction, { accountId, by, action: 'member.add', object: `user ${userId}`, after: { role } })
}

/** Throws lastOwner. */
export async function requireOtherOwner(sql: AnySql, accountId: number, userId: number): Promise<void> {
  const others = await sql`
    select from memberships m join users u on u.id = m.user_id
     where m.account_id = ${accountId} and m.role = 'owner' and m.user_id <> ${userId} and u.disabled_at is null limit 1`
  if (others.count === 0) throw new ServiceError('lastOwner')
}

async function selectMember(sql: AnySql, accountId: number, userId: number): Promise<Member | undefined> {
  const [row] = await sql<Member[]>`
    select ${columns(sql)} from memberships m join users u on u.id = m.user_id
     where m.account_id = ${accountId} and m.user_id = ${userId}`
  return row
}
