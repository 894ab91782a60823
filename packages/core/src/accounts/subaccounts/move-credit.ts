import type { SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Credit, RecurringCredit } from '../credits/credit.ts'
import { parseSpan } from '../credits/days.ts'
import { invalidCredit, requireCredit } from '../credits/index.ts'
import { addToBalance, emptyBalance, insertBalance, lockCredits, noteGrant, updateRecurring } from '../credits/store.ts'

/** A parent and one of its subaccounts, locked, with their credit; undefined if unlimited. */
export interface Pair {
  readonly parentId: number
  readonly id: number
  readonly parent: Credit | undefined
  readonly own: Credit | undefined
}

export async function lockPair(sql: SqlTransaction, parentId: number, id: number): Promise<Pair> {
  const credits = await lockCredits(sql, [parentId, id])
  return { parentId, id, parent: credits.get(parentId), own: credits.get(id) }
}

/**
 * Gives one-time credit to a subaccount, and takes it from the parent if the parent is limited. An unlimited subaccount
 * becomes limited. Throws creditInvalid.
 */
export async function increase(
  sql: SqlTransaction,
  { parentId, id, parent, own }: Pair,
  amount: number,
): Promise<void> {
  requireCredit(amount, 1, own?.oneTime ?? 0)
  if (parent && amount > (parent.oneTime ?? 0))
    throw invalidCredit(`exceeds the ${parent.oneTime} credits left to the parent account`)
  await moveParent(sql, parentId, -amount)
  await insertBalance(sql, id)
  await addToBalance(sql, id, amount)
}

/**
 * Takes one-time credit back and returns it to the parent if the parent is limited. Throws creditInvalid if it exceeds
 * the balance.
 */
export async function decrease(sql: SqlTransaction, { parentId, id, own }: Pair, amount: number): Promise<void> {
  requireCredit(amount, 1)
  if (!own) throw invalidCredit('the subaccount has no limit')
  if (amount > (own.oneTime ?? 0)) throw invalidCredit(`exceeds the ${own.oneTime} credits left to the subaccount`)
  await addToBalance(sql, id, -amount)
  await moveParent(sql, parentId, amount)
}

/** Returns the remaining one-time credit to the parent if the parent is limited. */
export async function returnCredit(sql: SqlTransaction, { parentId, id, own }: Pair): Promise<void> {
  const amount = own?.oneTime ?? 0
  if (amount > 0) await moveParent(sql, parentId, amount)
  await emptyBalance(sql, id)
}

/** Changes the credit of a limited parent. What it moves is not used, so the notice to its owners counts from here. */
async function moveParent(sql: SqlTransaction, parentId: number, amount: number): Promise<void> {
  await addToBalance(sql, parentId, amount)
  await noteGrant(sql, parentId)
}

/** Sets the recurring credit. Throws dateInvalid, datesReversed, creditInvalid. */
export async function setRecurring(sql: SqlTransaction, pair: Pair, recurring: RecurringCredit): Promise<void> {
  parseSpan(recurring.from, recurring.until)
  requireCredit(recurring.amount, 1)
  // Recurring credit is not taken from any balance, so a limited parent cannot grant it.
  if (pair.parent && recurring.active)
    throw invalidCredit('the parent account has a limit, so it can only grant one-time credit')
  // Disabling a recurring credit that does not exist must not limit an unlimited subaccount.
  if (!pair.own && !recurring.active) throw invalidCredit('the subaccount has no limit')
  await insertBalance(sql, pair.id)
  await updateRecurring(sql, pair.id, recurring)
}

/** Throws subaccountUnknown. */
export function known<T>(subaccount: T | undefined): T {
  if (subaccount === undefined) throw new ServiceError('subaccountUnknown')
  return subaccount
}
