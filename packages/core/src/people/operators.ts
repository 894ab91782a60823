import { type Actor, ALL_ACCOUNTS, noteChange } from '../accounts/audit/index.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import type { Session, SessionKeeper } from './sessions.ts'
import { insertOperator, lockOperators, requireUser } from './users.ts'

/** Users who may see every account and the installation. Changes are recorded in the log of the installation. */
export interface Operators {
  list(): Promise<{ userId: number; name: string; email: string | null; since: Date }[]>
  /** Throws parameterInvalid (user). */
  add(userId: number, by: Actor): Promise<void>
  /** Throws parameterInvalid (user), and lastOwner for the last one. */
  remove(userId: number, by: Actor): Promise<void>
}

/** The user must exist. */
export async function addOperator(transaction: SqlTransaction, userId: number, by: Actor): Promise<void> {
  await insertOperator(transaction, userId)
  await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action: 'operator.add', object: `user ${userId}` })
}

export function createOperators(sql: Sql, sessions: SessionKeeper): Operators {
  return {
    list: () => sql<{ userId: number; name: string; email: string | null; since: Date }[]>`
      select u.id as "userId", u.name, u.email, o.created_at as since
        from operators o join users u on u.id = o.user_id order by o.created_at, u.id limit 1000`,
    async add(userId, by) {
      await sql.begin(async (transaction) => {
        await requireUser(transaction, userId)
        await addOperator(transaction, userId, by)
      })
      sessions.forget()
    },
    async remove(userId, by) {
      await sql.begin(async (transaction) => {
        const all = await lockOperators(transaction)
        if (!all.includes(userId)) throw invalidParameter('user', 'is not an operator')
        if (all.length === 1) throw new ServiceError('lastOwner')
        await transaction`delete from operators where user_id = ${userId}`
        await transaction`update sessions set looks_at = null, rotate = true where user_id = ${userId}`
        const object = `user ${userId}`
        await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action: 'operator.remove', object })
      })
      sessions.forget()
    },
  }
}

/**
 * Lets an operator look at an account, with the rights of the role `observer`, until they look at another one (null: none) or
 * the session ends. Recorded in the account's audit log, where its owner sees it.
 *
 * Throws scopeMissing for a user who is not an operator, and parameterInvalid (account).
 */
export async function lookAs(
  { sql, sessions }: { readonly sql: Sql; readonly sessions: SessionKeeper },
  { user, sessionId }: Session,
  accountId: number | null,
  address: string,
): Promise<void> {
  await sql.begin(async (transaction) => {
    const operator = await transaction`select from operators where user_id = ${user.id}`
    if (operator.count === 0) throw new ServiceError('scopeMissing')
    if (accountId !== null) {
      const known = await transaction`select from accounts where id = ${accountId} and deleted_at is null`
      if (known.count === 0) throw invalidParameter('account', 'does not exist')
      const by: Actor = { keyId: null, userId: user.id, address }
      await noteChange(transaction, { accountId, by, action: 'operator.look', object: `account ${accountId}` })
    }
    await transaction`update sessions set looks_at = ${accountId} where id = ${sessionId} and user_id = ${user.id}`
  })
  sessions.forget()
}
