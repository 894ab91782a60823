import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { type Actor, noteChange, OPERATOR } from '../audit/index.ts'
import { type Credit, type CreditSpan, type CreditUsage, type HeldCredit, MAX_CREDIT } from './credit.ts'
import { parseSpan } from './days.ts'
import { type CreditOutlook, outlook } from './outlook.ts'
import {
  accountExists,
  addToBalance,
  deleteBalance,
  insertBalance,
  lockAccount,
  lockCredits,
  noteGrant,
  selectCredit,
  selectHeld,
  selectUsage,
  sumUsage,
  updateBalance,
} from './store.ts'

export type { Credit, CreditPeriod, CreditSpan, CreditUsage, HeldCredit, RecurringCredit } from './credit.ts'
export type { CreditOutlook } from './outlook.ts'

/** Grants and reports credit. Messages are charged when they are accepted (messages/store.ts, sql/0008_credits.sql). */
export interface Credits {
  /** Throws parameterInvalid (account). */
  show(accountId: number): Promise<Credit>
  /**
   * Returns the credit used in the date range, in total and for a page of its days. Throws dateInvalid, datesReversed.
   */
  usage(accountId: number, span: CreditSpan): Promise<CreditUsage>
  /** Returns what subaccounts have of their own. They keep it when the account is limited, and can return it to the account. */
  heldBySubaccounts(accountId: number): Promise<HeldCredit>
  /** See outlook.ts. */
  outlook(accountId: number): Promise<CreditOutlook>
  /** Adds one-time credit. Throws parameterInvalid (account), creditInvalid (amount, or the account has no limit). */
  grant(accountId: number, amount: number, by?: Actor): Promise<Credit>
  /**
   * Sets the limit: the account may send to this many more recipients. Throws parameterInvalid (account),
   * creditInvalid.
   */
  limit(accountId: number, amount: number, by?: Actor): Promise<Credit>
  /** Removes the limit and discards the balance. Throws parameterInvalid (account). */
  unlimit(accountId: number, by?: Actor): Promise<Credit>
}

export function createCredits(sql: Sql): Credits {
  async function change(
    accountId: number,
    by: Actor,
    action: string,
    fn: (transaction: SqlTransaction, before: Credit | undefined) => Promise<void>,
  ): Promise<Credit> {
    return sql.begin(async (transaction) => {
      if (!(await lockAccount(transaction, accountId))) throw noSuchAccount()
      const before = (await lockCredits(transaction, [accountId])).get(accountId)
      await fn(transaction, before)
      await noteGrant(transaction, accountId)
      const after = await selectCredit(transaction, accountId)
      const noted = { credit: before?.oneTime ?? 'unlimited' }
      const object = `account ${accountId}`
      await noteChange(transaction, {
        accountId,
        by,
        action,
        object,
        before: noted,
        after: { credit: after.oneTime ?? 'unlimited' },
      })
      return after
    }) as Promise<Credit>
  }

  return {
    async show(accountId) {
      const [exists, credit] = await Promise.all([accountExists(sql, accountId), selectCredit(sql, accountId)])
      if (!exists) throw noSuchAccount()
      return credit
    },

    async usage(accountId, span) {
      const total = parseSpan(span.first, span.last)
      const [days, used, { available }] = await Promise.all([
        selectUsage(sql, accountId, span),
        sumUsage(sql, accountId, span),
        selectCredit(sql, accountId),
      ])
      return { used, available, days, total }
    },

    heldBySubaccounts: (accountId) => selectHeld(sql, accountId),

    outlook: (accountId) => outlook(sql, accountId),

    grant: (accountId, amount, by = OPERATOR) =>
      change(accountId, by, 'credit.grant', async (transaction, before) => {
        if (!before) throw invalidCredit('the account has no limit')
        await addToBalance(transaction, accountId, requireCredit(amount, 1, before.oneTime ?? 0))
      }),

    limit: (accountId, amount, by = OPERATOR) =>
      change(accountId, by, 'credit.limit', async (transaction) => {
        await insertBalance(transaction, accountId)
        await updateBalance(transaction, accountId, requireCredit(amount, 0))
      }),

    unlimit: (accountId, by = OPERATOR) =>
      change(accountId, by, 'credit.unlimit', (transaction) => deleteBalance(transaction, accountId)),
  }
}

function noSuchAccount(): ServiceError {
  return invalidParameter('account', 'does not exist')
}

export function invalidCredit(problem: string): ServiceError {
  return new ServiceError('creditInvalid', { values: { problem } })
}

/**
 * Returns the amount if it is a whole number of at least `least` and the resulting balance is representable. Throws
 * creditInvalid.
 */
export function requireCredit(amount: number, least: number, onTopOf = 0): number {
  if (!Number.isInteger(amount) || amount < least || amount > MAX_CREDIT) {
    throw invalidCredit(`must be a whole number from ${least} to ${MAX_CREDIT}`)
  }
  if (onTopOf + amount > Number.MAX_SAFE_INTEGER)
    throw invalidCredit(`resulting balance exceeds the maximum of ${Number.MAX_SAFE_INTEGER}`)
  return amount
}
