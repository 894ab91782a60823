import type { Sql } from '../../platform/database/database.ts'
import { NEVER } from '../../platform/never.ts'
import { wake } from './queue-channel.ts'

/** A site that takes mail, and how many deliveries it is to get at most that could not be offered there before. */
export interface Reached {
  readonly place: string
  readonly most: number
}

/**
 * The mark of a delivery that was woken, until its next attempt is recorded. If the hosts are away again, it waits for its time: it has two attempts at
 * most for each of its schedule, however often they come and go, or while they take only some of the workers' connections.
 */
export const WOKEN = ''

/**
 * Makes deliveries due that wait because the hosts of a site were away or refused sessions, and wakes the workers: urgent mail first, then the oldest.
 * Returns how many.
 */
export async function wakeUnreached(sql: Sql, reached: readonly Reached[]): Promise<number> {
  const woken = await sql`
    with chosen as (
      select q.message_id, q.recipient_no
        from unnest(${reached.map(({ place }) => place)}::text[], ${reached.map(({ most }) => most)}::int[]) as r (place, most)
       cross join lateral (
         select message_id, recipient_no from delivery_queue
          where worker_id is null and unreached = r.place and state = 'deferred' and waiting_for is null
            and next_at > service_now() and next_at < ${NEVER}::timestamptz
          order by class, message_id limit r.most for update skip locked) q
    )
    update delivery_queue q set next_at = service_now(), unreached = ${WOKEN}
      from chosen c where q.message_id = c.message_id and q.recipient_no = c.recipient_no`
  // A lost wake-up delays mail by one poll interval at most.
  if (woken.count > 0) await wake(sql, '').catch(() => {})
  return woken.count
}

/** Whether the index that {@link wakeUnreached} needs has been built: a worker builds it after an upgrade. */
export async function isUnreachedIndexed(sql: Sql): Promise<boolean> {
  const [row] =
    await sql`select 1 from pg_index where indexrelid = to_regclass('delivery_queue_unreached') and indisvalid`
  return row !== undefined
}
