import type { AnySql } from '../platform/database/database.ts'
import { storableJson } from '../platform/database/storable.ts'
import type { EventDetail } from './event-detail.ts'
import type { EventType } from './event-types.ts'

type Fragment = ReturnType<AnySql>

export interface InsertedEvents {
  /** A relation with `account_id`, `message_id` and `recipient_no`. Each of its rows gets an event. */
  readonly from: Fragment
  /** The type, or an expression over the relation. */
  readonly type: EventType | Fragment
  /** The details: a value, or an expression of type jsonb. */
  readonly detail: EventDetail | Fragment
  /** The time of the event; default: the time of the statement. */
  readonly at?: Fragment
}

/**
 * Returns the statement that inserts events. It must be part of the statement or transaction that records the fact, so that neither
 * is stored without the other.
 */
export function insertEvents(sql: AnySql, { from, type, detail, at = sql`service_now()` }: InsertedEvents): Fragment {
  return sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select ${at}, account_id, ${typeof type === 'string' ? sql`${type}::text` : type}, message_id, recipient_no,
           ${isFragment(detail) ? detail : sql`${storableJson(detail)}::text::jsonb`}
      from ${from}`
}

/** The relation of an event that belongs to an account, and to no message. */
export function ofAccount(sql: AnySql, accountId: number): Fragment {
  return sql`(select ${accountId}::int as account_id, null::uuid as message_id, null::int as recipient_no) account`
}

function isFragment(detail: EventDetail | Fragment): detail is Fragment {
  return detail instanceof Promise
}
