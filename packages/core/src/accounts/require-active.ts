import type { AnySql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
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
