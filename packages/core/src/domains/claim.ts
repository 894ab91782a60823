import { noteChange, OPERATOR } from '../accounts/audit/index.ts'
import type { Sql } from '../platform/database/database.ts'
import { deleteDomain, lockDomain, type StoredDomain } from './store.ts'

/** Deletes a claim that has expired before its records were valid. */
export async function endIfOver(sql: Sql, { id, claimEndsAt }: StoredDomain): Promise<void> {
  if (claimEndsAt === null) return
  await sql.begin(async (transaction) => {
    const domain = await lockDomain(transaction, id)
    if (domain?.state !== 'pending' || domain.claimEndsAt === null || domain.claimEndsAt > domain.now) return
    const { accountId, name, state } = domain
    await deleteDomain(transaction, id)
    const change = { action: 'domain.expire', object: `domain ${name}`, before: { state } }
    await noteChange(transaction, { accountId, by: OPERATOR, ...change })
  })
}
