import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { noteGrant, selectCredit } from '../credits/store.ts'
import { auditCredit, type SubaccountAct, withSubaccount } from './change-subaccount.ts'
import { lockPair, type Pair } from './move-credit.ts'
import type { SubaccountCredit } from './subaccount.ts'

/** Runs `move` with both credits locked, and records the subaccount's credit before and after it. */
export function changeCredit(
  sql: Sql,
  act: SubaccountAct,
  action: `credit.${string}`,
  move: (transaction: SqlTransaction, pair: Pair) => Promise<void>,
): Promise<SubaccountCredit> {
  return withSubaccount<SubaccountCredit>(sql, act, async (transaction, { id, username }) => {
    const pair = await lockPair(transaction, act.parentId, id)
    await move(transaction, pair)
    await noteGrant(transaction, id)
    const after = await selectCredit(transaction, id)
    return [
      { username, ...after },
      { action, before: auditCredit(pair.own), after: auditCredit(after) },
    ]
  })
}
