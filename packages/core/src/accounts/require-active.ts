import type { AnySql } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { type Actor, isKnown } from './audit/index.ts'

/**
 * Throws accountSuspended for what a suspended account, or a subaccount of one, must not do. The operator may do it. An account that does not
 * exist passes.
 */
export async function requireActive(sql: AnySql, accountId: number, by: Actor): Promise<void> {
  if (!isKnown(by)) return
  const rows = await sql`
    select from accounts a left join accounts p on p.id = a.parent_id
     where a.id = ${accountId} and (a.state = 'suspended' or p.state = 'suspended')`
  if (rows.count > 0) throw new ServiceError('accountSuspended')
}

/**
 * Throws parameterInvalid (account) for a deleted account: what is stored of it after its removal would stay, and a domain would be kept from others. The
 * lock makes a removal that begins wait for the transaction. An account that does not exist passes.
 */
export async function requireNotDeleted(sql: AnySql, accountId: number): Promise<void> {
  const [account] = await sql<{ deleted: boolean }[]>`
    select deleted_at is not null as deleted from accounts where id = ${accountId}::int for share`
  if (account?.deleted) throw invalidParameter('account', 'is deleted')
}
