import type { SqlTransaction } from '../../platform/database/database.ts'
import { type Actor, type AuditValues, noteChange } from '../audit/index.ts'

/**
 * Records a change in the audit logs of the parent and the subaccount. The order is the same everywhere, because each
 * log is locked.
 */
export async function auditBothAccounts(
  sql: SqlTransaction,
  parentId: number,
  { id, username }: { id: number; username: string },
  by: Actor,
  change: { action: string; before?: AuditValues; after?: AuditValues },
): Promise<void> {
  const object = `subaccount ${username}`
  await noteChange(sql, { accountId: parentId, by, object, ...change })
  await noteChange(sql, { accountId: id, by, object, ...change })
}
