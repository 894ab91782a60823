import { lockLogs, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import type { SqlTransaction } from '../platform/database/database.ts'
import { demoteDomain, lockHolder, noteActivity, type StoredDomain } from './store.ts'

/**
 * Somebody proved by the DNS that the name of this claim is his. Another account that has it is left with a claim if its own records were
 * just seen to be `gone` (the id of that domain); it need not have been so for the grace time, since whoever writes the DNS has
 * decided. Answers why it keeps the name, if it does: who hears that has set records there, so nobody learns it by asking.
 */
export async function makeWay(
  sql: SqlTransaction,
  { name, accountId: claimant }: StoredDomain,
  gone: number | undefined,
): Promise<string | undefined> {
  const holder = await lockHolder(sql, name)
  if (!holder) return undefined
  // Before the next question: one that was rejected may never have been seen right.
  if (holder.state === 'rejected') return 'the operator does not allow this domain'
  if (holder.verifiedAt === null) {
    return 'another account has this domain by the word of the operator, who has to release it'
  }
  if (holder.brokenSince === null) {
    return 'another account has this domain, and its DKIM record is still there: remove that record, then verify again'
  }
  const { id, accountId, state } = holder
  if (id !== gone)
    return 'another account has this domain, and the DNS does not answer for its records now: verify again'
  // Two accounts may be taking a domain over from each other.
  await lockLogs(sql, [accountId, claimant])
  await demoteDomain(sql, id)
  const change = { action: 'domain.lose', object: `domain ${name}`, before: { state }, after: { state: 'pending' } }
  await noteChange(sql, { accountId, by: OPERATOR, ...change })
  await noteActivity(sql, holder, { before: state, after: 'pending' })
  return undefined
}
