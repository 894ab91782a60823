import type { Sql } from '../../platform/database/database.ts'
import { type PasswordCost, passwordHasher } from '../../platform/security/passwords.ts'
import type { Account } from '../account.ts'
import { type Actor, OPERATOR } from '../audit/index.ts'
import type { RecurringCredit } from '../credits/credit.ts'
import { selectCredit } from '../credits/store.ts'
import { changeCredit } from './change-credit.ts'
import { createSubaccount, type NewSubaccount } from './create.ts'
import { setDisabled } from './disable.ts'
import { listFigures, listSubaccounts } from './list.ts'
import { decrease, increase, known, setRecurring } from './move-credit.ts'
import { removeSubaccount } from './remove.ts'
import { type SubaccountPage, selectSubaccount } from './store.ts'
import type { Subaccount, SubaccountCredit, SubaccountFigures } from './subaccount.ts'
import { type SubaccountChanges, updateSubaccount } from './update.ts'

export type { NewSubaccount } from './create.ts'
export type { CreditType, Subaccount, SubaccountCredit, SubaccountFigures } from './subaccount.ts'
export type { SubaccountChanges } from './update.ts'

/**
 * The accounts under an account, each identified by its case-insensitive user name. Every function except create, list
 * and figures throws subaccountUnknown. Changes are recorded in the audit logs of both accounts.
 */
export interface Subaccounts {
  create(parent: Account, subaccount: NewSubaccount, by?: Actor): Promise<{ subaccount: Subaccount; secret: string }>
  /** A page sorted by name, and the total number. */
  list(parentId: number, page: SubaccountPage): Promise<{ subaccounts: Subaccount[]; total: number }>
  /** The same page with the figures of each subaccount. */
  figures(parentId: number, page: SubaccountPage): Promise<{ subaccounts: SubaccountFigures[]; total: number }>
  /**
   * Changing to `unlimited` returns the remaining one-time credit to the parent; changing to `one_time_credit` starts
   * with a balance of 0. Throws subaccountEmailInvalid, passwordWeak.
   */
  update(parentId: number, username: string, changes: SubaccountChanges, by?: Actor): Promise<Subaccount>
  /** The subaccount's keys are rejected by every process within 5 s. */
  setDisabled(parentId: number, username: string, disabled: boolean, by?: Actor): Promise<Subaccount>
  /**
   * Returns the credit that the parent got back. The keys are rejected by every process within 5 s, and the name can be
   * reused.
   */
  remove(parentId: number, username: string, by?: Actor): Promise<{ returned: number }>
  credit(parentId: number, username: string): Promise<SubaccountCredit>
  /** Throws creditInvalid. See move-credit.ts. */
  increase(parentId: number, username: string, amount: number, by?: Actor): Promise<SubaccountCredit>
  /** Throws creditInvalid. */
  decrease(parentId: number, username: string, amount: number, by?: Actor): Promise<SubaccountCredit>
  /** Throws dateInvalid, datesReversed, creditInvalid. */
  setRecurring(parentId: number, username: string, credit: RecurringCredit, by?: Actor): Promise<SubaccountCredit>
}

export function createSubaccounts(sql: Sql, passwordCost: PasswordCost): Subaccounts {
  const hashPassword = passwordHasher(passwordCost)
  return {
    create: (parent, subaccount, by = OPERATOR) => createSubaccount(sql, parent, subaccount, { by, hashPassword }),
    list: (parentId, page) => listSubaccounts(sql, parentId, page),
    figures: (parentId, page) => listFigures(sql, parentId, page),
    update: (parentId, username, changes, by = OPERATOR) =>
      updateSubaccount({ sql, hashPassword }, { parentId, username, by }, changes),
    setDisabled: (parentId, username, disabled, by = OPERATOR) =>
      setDisabled(sql, { parentId, username, by }, disabled),
    remove: (parentId, username, by = OPERATOR) => removeSubaccount(sql, { parentId, username, by }),
    async credit(parentId, name) {
      const { id, username } = known(await selectSubaccount(sql, parentId, name))
      return { username, ...(await selectCredit(sql, id)) }
    },
    increase: (parentId, username, amount, by = OPERATOR) =>
      changeCredit(sql, { parentId, username, by }, 'credit.increase', (transaction, pair) =>
        increase(transaction, pair, amount),
      ),
    decrease: (parentId, username, amount, by = OPERATOR) =>
      changeCredit(sql, { parentId, username, by }, 'credit.decrease', (transaction, pair) =>
        decrease(transaction, pair, amount),
      ),
    setRecurring: (parentId, username, credit, by = OPERATOR) =>
      changeCredit(sql, { parentId, username, by }, 'credit.recurring', (transaction, pair) =>
        setRecurring(transaction, pair, credit),
      ),
  }
}
