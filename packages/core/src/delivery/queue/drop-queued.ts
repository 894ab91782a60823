import { insertEvents } from '../../events/insert-events.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { finishDeliveries } from '../outcomes/finish-deliveries.ts'

type Fragment = ReturnType<AnySql>

/**
 * Drops the deliveries of `delivery_queue q` that meet a condition, by order of the operator or of their account: each with its event, and none that is in
 * flight. A delivery is either dropped or claimed, never both: the deletion waits for a claim of the same row and then leaves it out.
 * Returns one row with its account per delivery.
 */
export function dropQueued(sql: AnySql, where: Fragment, reason: 'operator' | 'cancelled' = 'operator'): Fragment {
  return sql`
    with deleted as (
      delete from delivery_queue q where ${where} and q.worker_id is null returning *
    ), finished as (
      ${finishDeliveries(sql, { from: sql`deleted`, state: 'dropped', reason })}
    ), new_events as (
      ${insertEvents(sql, { from: sql`deleted`, type: 'dropped', detail: { reason } })}
    )
    select account_id as "accountId" from deleted`
}
