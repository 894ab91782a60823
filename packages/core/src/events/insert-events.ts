import type { AnySql } from '../platform/database/database.ts'
import type { EventDetail } from './event-detail.ts'
import type { EventType } from './event-types.ts'

type Fragment = ReturnType<AnySql>

export interface InsertedEvents {
  /** A relation with `account_id`, `message_id` and `recipient_no`: an event for each of its rows. */
  readonly from: Fragment
  /** The type, or an expression over the relation. */
  readonly type: EventType | Fragment
  /** What the event says besides: a value, or an expression of type jsonb. */
  readonly detail: EventDetail | Fragment
  /** When it happened. Default: the moment of the statement. */
  readonly at?: Fragment
}

/**
 * The statement that inserts events, to be part of the statement or transaction that records the fact, so that there is neither a
 * fact without its event nor an event without its fact.
 */
export function insertEvents(sql: AnySql, { from, type, detail, at = sql`service_now()` }: InsertedEvents): Fragment {
  return sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select ${at}, account_id, ${typeof type === 'string' ? sql`${type}::text` : type}, message_id, recipient_no,
           ${isFragment(detail) ? detail : sql`${JSON.stringify(detail)}::text::jsonb`}
      from ${from}`
}

function isFragment(detail: EventDetail | Fragment): detail is Fragment {
  return detail instanceof Promise
}
