import type { Sql } from '../../platform/database/database.ts'
import { defined } from '../../platform/defined.ts'
import { type HashPassword, requireStrong } from '../../platform/security/passwords.ts'
import { deleteBalance, insertBalance } from '../credits/store.ts'
import { type SubaccountAct, withSubaccount } from './change-subaccount.ts'
import { parseEmail } from './create.ts'
import { known, lockPair, returnCredit } from './move-credit.ts'
import { selectSubaccount, updateSubaccount as storeChanges } from './store.ts'
import type { CreditType, Subaccount } from './subaccount.ts'

export interface SubaccountChanges {
  readonly email?: string | undefined
  readonly password?: string | undefined
  readonly creditType?: CreditType | undefined
}

export async function updateSubaccount(
  { sql, hashPassword }: { readonly sql: Sql; readonly hashPassword: HashPassword },
  act: SubaccountAct,
  { email, password, creditType }: SubaccountChanges,
): Promise<Subaccount> {
  const { parentId, username } = act
  const address = email === undefined ? undefined : parseEmail(email)
  if (password !== undefined) requireStrong(password)
  // Hashing is slow, so do not hash for an unknown subaccount or while its row is locked.
  known(await selectSubaccount(sql, parentId, username))
  const hashed = password === undefined ? undefined : await hashPassword(password, `account ${parentId}`)
  return withSubaccount(sql, act, async (transaction, { id, creditType: was }) => {
    await storeChanges(transaction, id, { email: address, password: hashed })
    if (creditType === 'one_time_credit') await insertBalance(transaction, id)
    if (creditType === 'unlimited') {
      await returnCredit(transaction, await lockPair(transaction, parentId, id))
      await deleteBalance(transaction, id)
    }
    const after = {
      ...(address === undefined ? {} : { email: 'changed' }),
      ...(hashed === undefined ? {} : { password: 'changed' }),
      ...defined({ creditType }),
    }
    const updated = known(await selectSubaccount(transaction, parentId, username))
    return [updated, { action: 'subaccount.update', before: { creditType: was }, after }]
  })
}
