import type { AnySql } from '../../platform/database/database.ts'
import { ALL_ACCOUNTS, type Change, isKnown, noteChange, OPERATOR } from './index.ts'

/**
 * Appends a change to the log of the account that it concerns; null: to that of the installation. A change that was made with an operator key or
 * by a user who operates the installation is in the installation's log, with the key or the user. The account's own log, which the account can read,
 * names only the operator.
 */
export async function noteOperatorChange(
  sql: AnySql,
  { accountId, by, ...change }: Omit<Change, 'accountId'> & { readonly accountId: number | null },
): Promise<void> {
  // The lower number first, as lockLogs does.
  if (accountId === null || isKnown(by)) await noteChange(sql, { ...change, accountId: ALL_ACCOUNTS, by })
  if (accountId !== null) await noteChange(sql, { ...change, accountId, by: OPERATOR })
}
