import type { DeliveryClass } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Flow } from './flows.ts'
import type { DeliveryKey } from './queue.ts'

/**
 * Why mail waits at its destination: connections or the rate are used up, the destination is paused, the allowance of a new source is used up, or no
 * source that this worker has can send it. Or mail of its account is held or slowed.
 */
export type WaitingFor = 'connections' | 'rate' | 'pause' | 'warm-up' | 'source' | 'account'

/** A delivery that is left to its destination. */
export interface ParkedDelivery extends DeliveryKey {
  readonly place: string
  readonly waitingFor: WaitingFor
  /** Seconds after which it is looked at again in any case; an hour or so if undefined. */
  readonly lookWithin?: number | undefined
}

/** Seconds after which parked mail is looked at again in any case: spread, so that a million deliveries are not due at once. */
const LOOK_AGAIN = { least: 1800, most: 5400 } as const

/** A flow with mail that waits at a destination. */
export interface ParkedFlow extends Flow {
  readonly place: string
}

/** How many flows are found at a time. */
const MAX_FOUND = 2000

/**
 * Leaves claimed deliveries to their destinations without an attempt, until those have capacity. They are due again at the end of their
 * lifetime, or after an hour or so, in case no worker knows the destination.
 */
export async function parkDeliveries(
  sql: AnySql,
  workerId: number,
  deliveries: readonly ParkedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  const { least, most } = LOOK_AGAIN
  await sql`
    update delivery_queue q
       set worker_id = null, attempt = q.attempt - 1, state = case when q.attempt = 1 then 'queued' else 'deferred' end,
           next_at = least(q.expires_at, service_now() + coalesce(r.look_within, ${least} + random() * ${most - least}) * interval '1 second'),
           dot_at = null, dot_host = null, place = r.place, waiting_for = r.waiting_for
      from unnest(${deliveries.map((d) => d.messageId)}::uuid[], ${deliveries.map((d) => d.recipientNo)}::int[],
                  ${deliveries.map((d) => d.attempt)}::int[], ${deliveries.map((d) => d.place)}::text[],
                  ${deliveries.map((d) => d.waitingFor)}::text[], ${deliveries.map((d) => d.lookWithin ?? null)}::int[])
             as r(message_id, recipient_no, attempt, place, waiting_for, look_within)
     where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.attempt = r.attempt
       and q.worker_id is not distinct from ${workerId}`
}

/**
 * Returns the flows that have parked mail, in the order of destinations, classes and accounts, beginning after `after`; at most 2000. One
 * index probe per flow, however much mail it has parked.
 */
export async function parkedFlows(sql: AnySql, after?: ParkedFlow): Promise<ParkedFlow[]> {
  return sql<ParkedFlow[]>`
    with recursive flow as (${parkedWalk(sql, MAX_FOUND, after)})
    select place, class, account_id as "accountId" from flow where no > 0`
}

/**
 * The body of a recursive query `flow`: a row for each flow that has mail parked at a destination, after the first row, which has number 0 and is none.
 * One index probe per flow.
 */
export function parkedWalk(sql: AnySql, most: number, after?: ParkedFlow): ReturnType<AnySql> {
  const first = after ?? { place: '', class: 0 as DeliveryClass, accountId: 0 }
  return sql`
    select ${first.place}::text as place, ${first.class}::smallint as class, ${first.accountId}::int as account_id, 0 as no
    union all
    select next.place, next.class, next.account_id, flow.no + 1 from flow cross join lateral (
      select place, class, account_id from delivery_queue
       where worker_id is null and place is not null
         and (place, class, account_id) > (flow.place, flow.class, flow.account_id)
       order by place, class, account_id limit 1) next
     where flow.no < ${most}`
}

/** Whether {@link parkedFlows} may have left out some. */
export function hasMoreParked(found: readonly ParkedFlow[]): boolean {
  return found.length >= MAX_FOUND
}
