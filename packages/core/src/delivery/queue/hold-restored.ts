import type { SqlTransaction } from '../../platform/database/database.ts'
import { NEVER } from '../../platform/never.ts'
import { takeOverFrom } from '../leases/lease.ts'

/** Hours for which mail that is held after a restore does not expire, so that there is time to decide. */
const MIN_HOURS = 24

/**
 * Holds all deliveries of a queue that was restored to its state at `restoredTo`, until they are released as if the operator had held
 * them: some may have been delivered after that moment. Deadlines are later by the time since then, and at least 24 hours from now.
 * Deliveries that are set aside remain so. Returns how many are held. No worker may be running.
 */
export async function holdRestored(sql: SqlTransaction, restoredTo: Date): Promise<number> {
  const workers = await sql<{ id: number }[]>`select id from workers order by id`
  // Their deliveries return to the queue as if the workers had died.
  await takeOverFrom(
    sql,
    workers.map(({ id }) => id),
  )
  const { count } = await sql`
    update delivery_queue q
       set waiting_for = 'hold', place = null, expires_at = d.expires_at,
           held_next_at = case when q.waiting_for is not distinct from 'hold' then q.held_next_at
                               when q.place is null then q.next_at else service_now() end,
           next_at = case when q.next_at >= ${NEVER}::timestamptz then q.next_at else d.expires_at end
      from (select message_id, recipient_no,
                   greatest(expires_at + greatest(service_now() - ${restoredTo}::timestamptz, interval '0'),
                            service_now() + make_interval(hours => ${MIN_HOURS})) as expires_at
              from delivery_queue where set_aside is null) d
     where q.message_id = d.message_id and q.recipient_no = d.recipient_no`
  return count
}
