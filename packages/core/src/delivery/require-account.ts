import { type AnySql, onlyRow } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'

/** Throws parameterInvalid (account) if there is no such account. Null and undefined mean all accounts. */
export async function requireAccount(sql: AnySql, accountId: number | null | undefined): Promise<void> {
  if (accountId === null || accountId === undefined) return
  const { exists } = onlyRow(
    await sql<{ exists: boolean }[]>`select exists (select from accounts where id = ${accountId}::int) as exists`,
  )
  if (!exists) throw invalidParameter('account', `account ${accountId} not found`)
}
