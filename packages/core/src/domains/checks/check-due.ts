import { OPERATOR } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { endIfOver } from '../claim.ts'
import { claimDueDomains, selectDomainById } from '../store.ts'
import type { DomainChecker } from './domain-checker.ts'

/** Number of domains that one round checks concurrently. */
const CONCURRENT_CHECKS = 5

export async function checkDueDomains(
  { sql, checker }: { readonly sql: Sql; readonly checker: DomainChecker },
  { limit, signal }: { limit: number; signal?: AbortSignal },
): Promise<number> {
  const due = await claimDueDomains(sql, limit)
  const left = [...due]
  const failures: unknown[] = []
  const checkOne = async (id: number): Promise<void> => {
    const domain = await selectDomainById(sql, id)
    if (domain) await endIfOver(sql, await checker.check(domain, OPERATOR, signal))
  }
  const work = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && !signal?.aborted; id = left.shift()) {
      await checkOne(id).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_CHECKS }, work))
  if (failures.length > 0) throw failures[0]
  return due.length
}
