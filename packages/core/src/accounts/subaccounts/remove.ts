import type { Sql } from '../../platform/database/database.ts'
import { auditCredit, type SubaccountAct, withSubaccount } from './change-subaccount.ts'
import { lockPair, returnCredit } from './move-credit.ts'
import { markDeleted } from './store.ts'

export function removeSubaccount(sql: Sql, act: SubaccountAct): Promise<{ returned: number }> {
  return withSubaccount(sql, act, async (transaction, subaccount) => {
    const pair = await lockPair(transaction, act.parentId, subaccount.id)
    await returnCredit(transaction, pair)
    await markDeleted(transaction, subaccount.id)
    const returned = pair.parent ? (pair.own?.oneTime ?? 0) : 0
    return [{ returned }, { action: 'subaccount.delete', before: auditCredit(pair.own), after: { returned } }]
  })
}
