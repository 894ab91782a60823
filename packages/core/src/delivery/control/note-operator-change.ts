import { ALL_ACCOUNTS, type Change, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { AnySql } from '../../platform/database/database.ts'

/**
 * Appends a change to the log of the account that it concerns; null: to that of the installation. A change that was made with an operator key
 * is in the installation's log, with the key. The account's own log, which the account can read, names the operator without the key.
 */
export async function noteOperatorChange(
  sql: AnySql,
  { accountId, by, ...change }: Omit<Change, 'accountId'> & { readonly accountId: number | null },
): Promise<void> {
  // The lower number first, as lockLogs does.
  if (accountId === null || by.keyId !== null) await noteChange(sql, { ...change, accountId: ALL_ACCOUNTS, by })
  if (accountId !== null) await noteChange(sql, { ...change, accountId, by: OPERATOR })
}
