import { type Actor, noteChange } from '../accounts/audit/index.ts'
import type { Sql } from '../platform/database/database.ts'
import { changeOwnDomain, ownDomain } from './own-domain.ts'
import { type StoredDomain, updateShared } from './store.ts'

export async function shareDomain(
  sql: Sql,
  accountId: number,
  { name, shared }: { name: string; shared: boolean },
  by: Actor,
): Promise<StoredDomain> {
  const domain = await ownDomain(sql, accountId, name)
  return changeOwnDomain(sql, domain, async (transaction, before) => {
    if (before.shared === shared) return before
    const change = { object: `domain ${before.name}`, before: { shared: before.shared }, after: { shared } }
    await noteChange(transaction, { accountId, by, action: 'domain.share', ...change })
    return updateShared(transaction, before.id, shared)
  })
}
