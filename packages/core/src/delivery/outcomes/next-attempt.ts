import type { AnySql } from '../../platform/database/database.ts'
import { NEVER } from '../../platform/never.ts'
import { concernsDestination } from '../limits/overrides.ts'
import { isParkedForAccount } from '../queue/account-holds.ts'

/** When a delivery is tried next, as far as that is planned. */
export interface NextAttempt {
  /**
   * Null if it is final or in flight, or no time is planned: it is held, waits for a paused batch, or is parked. If its destination is paused, the end of
   * the pause.
   */
  readonly nextAt: Date | null
  /** Whether it is parked at a destination that is paused. */
  readonly isPaused: boolean
  /** Whether it waits because the operator holds it, or because mail of its account or to its recipient is held or slowed. */
  readonly isHeld: boolean
}

/**
 * Returns a query of one row for a row `q` of delivery_queue, with the columns planned_at, is_paused and is_held. The due time of parked and of held
 * mail is only when it is looked at again in any case, or expires.
 */
export function nextAttemptOf(sql: AnySql): ReturnType<AnySql> {
  return sql`
    select coalesce(pause.until, case when q.worker_id is null and q.place is null and not held.is_held
                                      then nullif(q.next_at, ${NEVER}::timestamptz) end) as planned_at,
           pause.until is not null as is_paused, held.is_held
      from (select ${isParkedForAccount(sql)} or q.waiting_for is not distinct from 'hold' as is_held) held
     cross join lateral (
       select max(o.until) as until from limit_overrides o
        where q.worker_id is null and o.place in (q.place, split_part(q.place, '@', 1)) and ${concernsDestination(sql, sql`o`, sql`q.place`)}
          and o.setting = 'pause' and o.until > service_now() and (o.account_id is null or o.account_id = q.account_id)) pause`
}
