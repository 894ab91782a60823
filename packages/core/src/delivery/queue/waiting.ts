import type { AnySql } from '../../platform/database/database.ts'

/**
 * Selects the queued deliveries of some recipients. Unclaimed deliveries are found by their index, `delivery_queue_person`; the
 * claimed ones, which are few, by a scan. The account is compared in a way that cannot use an index: that of flows would read all its mail.
 */
export function waitingFor(sql: AnySql, accountId: number, keys: readonly string[]): ReturnType<AnySql> {
  const columns = sql`q.message_id, q.recipient_no, q.account_id, q.recipient_key, q.state, q.reference`
  const theirs = sql`q.recipient_key = any(${[...keys]}::text[]) and q.account_id is not distinct from ${accountId}::int`
  return sql`
    select ${columns} from delivery_queue q
     where q.worker_id is null and ${theirs}
       and hashtextextended(q.recipient_key, q.account_id) = any(array(
             select hashtextextended(key, ${accountId}::int) from unnest(${[...keys]}::text[]) key))
    union all
    select ${columns} from delivery_queue q where q.worker_id is not null and ${theirs}
    -- Keeps conditions of the surrounding statement out of this one: an index chosen for them would read the whole queue.
    offset 0`
}
