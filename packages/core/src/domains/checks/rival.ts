import { lockLogs, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import { demoteDomain, lockHolder, noteActivity, type StoredDomain } from '../store.ts'

/**
 * Resolves the conflict when a claim is verified by DNS and another account owns the name. The owner is demoted to a
 * claim if its records were just found missing (`gone` is the id of that domain). The grace time need not have passed,
 * because the owner of the DNS zone has decided. Otherwise returns why the owner keeps the name. That reveals nothing to
 * outsiders, since it is shown only to accounts that have published records there.
 */
export async function makeWay(
  sql: SqlTransaction,
  { name, accountId: claimant }: StoredDomain,
  gone: number | undefined,
): Promise<string | undefined> {
  const holder = await lockHolder(sql, name)
  if (!holder) return undefined
  // Checked first: a rejected domain may never have been verified.
  if (holder.state === 'rejected') return 'the operator does not allow this domain'
  if (holder.verifiedAt === null) {
    return 'the operator assigned this domain to another account and has to release it'
  }
  if (holder.brokenSince === null) {
    return 'another account has this domain, and its DKIM record is still published: remove that record, then verify again'
  }
  const { id, accountId, state } = holder
  if (id !== gone)
    return 'another account has this domain, and its DNS records could not be looked up: verify again later'
  // Two accounts may be taking over domains from each other at the same time.
  await lockLogs(sql, [accountId, claimant])
  await demoteDomain(sql, id)
  const change = { action: 'domain.lose', object: `domain ${name}`, before: { state }, after: { state: 'pending' } }
  await noteChange(sql, { accountId, by: OPERATOR, ...change })
  await noteActivity(sql, holder, { before: state, after: 'pending' })
  return undefined
}
