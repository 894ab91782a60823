import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { Account } from '../account.ts'
import { type Actor, type AuditValues, OPERATOR } from '../audit/index.ts'
import type { Credit, RecurringCredit } from '../credits/credit.ts'
import { deleteBalance, insertBalance, selectCredit } from '../credits/store.ts'
import { createSubaccount, type NewSubaccount, parseEmail } from './create.ts'
import { decrease, giveBack, increase, known, lockPair, type Pair, setRecurring } from './move-credit.ts'
import { noteInBoth } from './note.ts'
import { passwordHasher, requireStrong } from './password.ts'
import {
  countSubaccounts,
  lockSubaccount,
  markDeleted,
  type StoredSubaccount,
  type SubaccountPage,
  selectSubaccount,
  selectSubaccounts,
  updateDisabled,
  updateSubaccount,
} from './store.ts'
import type { CreditType, Subaccount, SubaccountCredit } from './subaccount.ts'

export type { NewSubaccount } from './create.ts'
export type { CreditType, Subaccount, SubaccountCredit } from './subaccount.ts'

export interface SubaccountChanges {
  readonly email?: string | undefined
  readonly password?: string | undefined
  readonly creditType?: CreditType | undefined
}

/**
 * The accounts under an account, each identified by its case-insensitive user name. Every function except create and
 * list throws subaccountUnknown. Changes are recorded in the audit logs of both accounts.
 */
export interface Subaccounts {
  create(parent: Account, subaccount: NewSubaccount, by?: Actor): Promise<{ subaccount: Subaccount; secret: string }>
  /** A page sorted by name, and the total number. */
  list(parentId: number, page: SubaccountPage): Promise<{ subaccounts: Subaccount[]; total: number }>
  /**
   * Changing to `unlimited` returns the remaining one-time credit to the parent; withSubaccount to `one_time_credit` starts
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

export function subaccountsOf(sql: Sql): Subaccounts {
  const hashPassword = passwordHasher()

  /** Runs `fn` in a transaction with the subaccount locked, and records the change in the audit logs. */
  function withSubaccount<T>(
    parentId: number,
    username: string,
    by: Actor,
    fn: (transaction: SqlTransaction, subaccount: StoredSubaccount) => Promise<[result: T, change: AuditedChange]>,
  ): Promise<T> {
    return sql.begin(async (transaction) => {
      const subaccount = known(await lockSubaccount(transaction, parentId, username))
      const [result, change] = await fn(transaction, subaccount)
      await noteInBoth(transaction, parentId, subaccount, by, change)
      return result
    }) as Promise<T>
  }

  const moveCredit = (
    action: string,
    move: (transaction: SqlTransaction, pair: Pair) => Promise<void>,
    parentId: number,
    name: string,
    by: Actor,
  ) =>
    withSubaccount<SubaccountCredit>(parentId, name, by, async (transaction, { id, username }) => {
      const pair = await lockPair(transaction, parentId, id)
      await move(transaction, pair)
      const after = await selectCredit(transaction, id)
      return [
        { username, ...after },
        { action, before: auditCredit(pair.own), after: auditCredit(after) },
      ]
    })

  return {
    create: (parent, subaccount, by = OPERATOR) => createSubaccount(sql, parent, subaccount, { by, hashPassword }),

    async list(parentId, page) {
      const [subaccounts, total] = await Promise.all([
        selectSubaccounts(sql, parentId, page),
        countSubaccounts(sql, parentId, page.username),
      ])
      return { subaccounts, total }
    },

    async update(parentId, username, { email, password, creditType }, by = OPERATOR) {
      const address = email === undefined ? undefined : parseEmail(email)
      if (password !== undefined) requireStrong(password)
      // Hashing is slow, so do not hash for an unknown subaccount or while its row is locked.
      known(await selectSubaccount(sql, parentId, username))
      const hashed = password === undefined ? undefined : await hashPassword(password)
      return withSubaccount(parentId, username, by, async (transaction, { id, creditType: was }) => {
        await updateSubaccount(transaction, id, { email: address, password: hashed })
        if (creditType === 'one_time_credit') await insertBalance(transaction, id)
        if (creditType === 'unlimited') {
          await giveBack(transaction, await lockPair(transaction, parentId, id))
          await deleteBalance(transaction, id)
        }
        const after = {
          ...(address === undefined ? {} : { email: 'changed' }),
          ...(hashed === undefined ? {} : { password: 'changed' }),
          ...(creditType === undefined ? {} : { creditType }),
        }
        const updated = known(await selectSubaccount(transaction, parentId, username))
        return [updated, { action: 'subaccount.update', before: { creditType: was }, after }]
      })
    },

    setDisabled: (parentId, username, disabled, by = OPERATOR) =>
      withSubaccount(parentId, username, by, async (transaction, subaccount) => {
        await updateDisabled(transaction, subaccount.id, disabled)
        const action = disabled ? 'subaccount.disable' : 'subaccount.enable'
        return [
          { ...subaccount, disabled },
          { action, before: { disabled: subaccount.disabled }, after: { disabled } },
        ]
      }),

    remove: (parentId, username, by = OPERATOR) =>
      withSubaccount(parentId, username, by, async (transaction, subaccount) => {
        const pair = await lockPair(transaction, parentId, subaccount.id)
        await giveBack(transaction, pair)
        await markDeleted(transaction, subaccount.id)
        const returned = pair.parent ? (pair.own?.oneTime ?? 0) : 0
        return [{ returned }, { action: 'subaccount.delete', before: auditCredit(pair.own), after: { returned } }]
      }),

    async credit(parentId, name) {
      const { id, username } = known(await selectSubaccount(sql, parentId, name))
      return { username, ...(await selectCredit(sql, id)) }
    },

    increase: (parentId, name, amount, by = OPERATOR) =>
      moveCredit('credit.increase', (transaction, pair) => increase(transaction, pair, amount), parentId, name, by),
    decrease: (parentId, name, amount, by = OPERATOR) =>
      moveCredit('credit.decrease', (transaction, pair) => decrease(transaction, pair, amount), parentId, name, by),
    setRecurring: (parentId, name, credit, by = OPERATOR) =>
      moveCredit(
        'credit.recurring',
        (transaction, pair) => setRecurring(transaction, pair, credit),
        parentId,
        name,
        by,
      ),
  }
}

interface AuditedChange {
  readonly action: string
  readonly before?: AuditValues
  readonly after?: AuditValues
}

function auditCredit(credit: Credit | undefined): AuditValues {
  const { oneTime, recurring } = credit ?? { oneTime: null, recurring: null }
  return { credit: oneTime ?? 'unlimited', ...(recurring ? { recurring: { ...recurring } } : {}) }
}
