import type { Sql } from '../../platform/database/database.ts'
import { type SubaccountAct, withSubaccount } from './change-subaccount.ts'
import { updateDisabled } from './store.ts'
import type { Subaccount } from './subaccount.ts'

export function setDisabled(sql: Sql, act: SubaccountAct, disabled: boolean): Promise<Subaccount> {
  return withSubaccount(sql, act, async (transaction, subaccount) => {
    await updateDisabled(transaction, subaccount.id, disabled)
    const action = disabled ? 'subaccount.disable' : 'subaccount.enable'
    return [
      { ...subaccount, disabled },
      { action, before: { disabled: subaccount.disabled }, after: { disabled } },
    ]
  })
}
