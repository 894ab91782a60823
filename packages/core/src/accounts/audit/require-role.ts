import type { AnySql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'

/** The session in which a user acts, and the role that lets them. */
export interface ActingRole {
  readonly sessionId: number
  /** The account of the role; null for `operator`. */
  readonly accountId: number | null
  /** A role in the account (people/roles.ts), or `operator`: the user operates the installation. */
  readonly name: string
}

/**
 * Throws roleChanged unless the user's session lasts and they still have the role. A process knows both as they were up to five seconds ago, and a key or
 * an invitation that is made with a lost role would last.
 */
export async function requireRole(
  sql: AnySql,
  userId: number | null,
  { sessionId, accountId, name }: ActingRole,
): Promise<void> {
  const rows = await sql`
    select from sessions s join users u on u.id = s.user_id
     where s.id = ${sessionId} and u.id = ${userId} and u.disabled_at is null
       and case when ${name}::text = 'operator' then exists (select from operators o where o.user_id = u.id)
                when ${name}::text = 'observer'
                then s.looks_at = ${accountId} and exists (select from operators o where o.user_id = u.id)
                else exists (select from memberships m
                              where m.user_id = u.id and m.account_id = ${accountId} and m.role = ${name}::text) end`
  if (rows.count === 0) throw new ServiceError('roleChanged')
}
