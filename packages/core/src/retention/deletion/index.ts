import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import type { AccountDeletion, DeletionPlan } from './deletion.ts'
import {
  confirmDeletion,
  type DeletionDependencies,
  type DeletionProblem,
  GRACE_DAYS,
  listDeletions,
  planDeletion,
  restoreAccount,
} from './plan.ts'
import { removeSome } from './remove.ts'

export type { AccountDeletion, Counted, DeletionPlan } from './deletion.ts'
export { type DeletionProblem, deletionProblemText, GRACE_DAYS } from './plan.ts'

/**
 * The deletion of accounts. A confirmed plan closes the account: its keys, passwords and members are refused, its mail waits, and the links in its
 * sent mail go on working. After the grace period, everything of it is removed.
 */
export interface AccountDeletions {
  /** Throws parameterInvalid (account, graceDays). */
  plan(accountId: number, graceDays?: number): Promise<DeletionPlan>
  /** Takes effect in every process within 5 s. */
  confirm(id: number, by?: Actor, of?: number): Promise<AccountDeletion | DeletionProblem>
  /** Opens a closed account again. Throws parameterInvalid (account). */
  restore(accountId: number, by?: Actor): Promise<AccountDeletion>
  /** Those that were confirmed, at most 100: the latest first, those that are not finished before others. */
  list(): Promise<AccountDeletion[]>
  /** See remove.ts. Delivery workers may call it concurrently. */
  removeSome(): Promise<boolean>
}

export function createAccountDeletions(dependencies: DeletionDependencies): AccountDeletions {
  const { sql } = dependencies
  return {
    plan: (accountId, graceDays = GRACE_DAYS.usual) => planDeletion(dependencies, accountId, graceDays),
    confirm: (id, by = OPERATOR, of = undefined) => confirmDeletion(sql, id, { by, of }),
    restore: (accountId, by = OPERATOR) => restoreAccount(sql, accountId, by),
    list: () => listDeletions(sql),
    removeSome: () => removeSome(sql),
  }
}
