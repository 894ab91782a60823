import type { AnySql } from '../../platform/database/database.ts'

/** A bounce that was reported after a server had accepted the message: the delivery stays `delivered`. Null if there is none. */
export interface BouncedLate {
  readonly bouncedAt: Date | null
  /** Code, enhanced code and text. */
  readonly bounce: string | null
}

/**
 * Selects `bounced_at` and `bounce` of a delivery `d` with message_id, recipient_no, account_id, state and finished_at. One probe of the index
 * `events_notable` in each week since its delivery.
 */
export function lateBounceOf(sql: AnySql) {
  return sql`
    select occurred_at as bounced_at, concat_ws(' ', detail->>'code', detail->>'enhanced', detail->>'reply') as bounce
      from events
     where d.state = 'delivered' and account_id = d.account_id and type = 'bounced' and message_id = d.message_id
       and recipient_no = d.recipient_no and not coalesce(detail ? 'machine', false) and detail ? 'late'
       and occurred_at >= d.finished_at - interval '1 day'
     order by occurred_at limit 1`
}
