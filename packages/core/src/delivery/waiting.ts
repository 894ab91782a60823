import type { AnySql } from '../platform/database/database.ts'

/**
 * What waits for some recipients: those deliveries that nobody holds by an index of their own, `delivery_queue_person`; what workers hold,
 * which is little, by looking through it.
 */
export function waitingFor(sql: AnySql, accountId: number, keys: readonly string[]): ReturnType<AnySql> {
  const columns = sql`q.message_id, q.recipient_no, q.account_id, q.recipient_key, q.state, q.reference`
  const theirs = sql`q.recipient_key = any(${[...keys]}::text[]) and q.account_id = ${accountId}::int`
  return sql`
    select ${columns} from delivery_queue q
     where q.worker_id is null and ${theirs}
       and hashtextextended(q.recipient_key, q.account_id) = any(array(
             select hashtextextended(key, ${accountId}::int) from unnest(${[...keys]}::text[]) key))
    union all
    select ${columns} from delivery_queue q where q.worker_id is not null and ${theirs}
    -- What is asked of them around this is not for an index to answer: it would read all of the queue.
    offset 0`
}
