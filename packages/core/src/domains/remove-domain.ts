import { type Actor, noteChange } from '../accounts/audit/index.ts'
import type { Sql } from '../platform/database/database.ts'
import { changeOwnDomain, ownDomain } from './own-domain.ts'
import { deleteDomain, noteActivity, type StoredDomain } from './store.ts'

/** Deletes the account's domain and returns it. */
export async function removeDomain(sql: Sql, accountId: number, name: string, by: Actor): Promise<StoredDomain> {
  const domain = await ownDomain(sql, accountId, name)
  await changeOwnDomain(sql, domain, async (transaction, { id, name, state, envelopeName }) => {
    await deleteDomain(transaction, id)
    const before = { state, envelopeName }
    await noteChange(transaction, { accountId, by, action: 'domain.delete', object: `domain ${name}`, before })
    await noteActivity(transaction, domain, { before: state, after: undefined })
  })
  return domain
}
