import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { Actor, AuditValues } from '../audit/index.ts'
import type { Credit } from '../credits/credit.ts'
import { known } from './move-credit.ts'
import { auditBothAccounts } from './note.ts'
import { lockSubaccount, type StoredSubaccount } from './store.ts'

/** A subaccount as its parent names it, and the author of the change. */
export interface SubaccountAct {
  readonly parentId: number
  readonly username: string
  readonly by: Actor
}

export interface AuditedChange {
  readonly action: string
  readonly before?: AuditValues
  readonly after?: AuditValues
}

/** Runs `fn` in a transaction with the subaccount locked, and records the change in the audit logs. */
export function withSubaccount<T>(
  sql: Sql,
  { parentId, username, by }: SubaccountAct,
  fn: (transaction: SqlTransaction, subaccount: StoredSubaccount) => Promise<[result: T, change: AuditedChange]>,
): Promise<T> {
  return sql.begin(async (transaction) => {
    const subaccount = known(await lockSubaccount(transaction, parentId, username))
    const [result, change] = await fn(transaction, subaccount)
    await auditBothAccounts(transaction, parentId, subaccount, by, change)
    return result
  }) as Promise<T>
}

export function auditCredit(credit: Credit | undefined): AuditValues {
  const { oneTime, recurring } = credit ?? { oneTime: null, recurring: null }
  return { credit: oneTime ?? 'unlimited', ...(recurring ? { recurring: { ...recurring } } : {}) }
}
