import type { DeliveryClass } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'

/**
 * The mail of one account and class. Workers share their capacity between the flows, so that the backlog of one account does not delay
 * the mail of others.
 */
export interface Flow {
  readonly accountId: number
  readonly class: DeliveryClass
}

/** How much of a flow is claimed. */
export interface FlowShare extends Flow {
  readonly limit: number
  /** The claim cursor: only deliveries due at this time or later (milliseconds since 1970). If undefined, from the head. */
  readonly dueFrom?: number | undefined
}

/** A flow with due mail, and the time at which it was found, in milliseconds since 1970. */
export interface DueFlow extends Flow {
  readonly now: number
}

/**
 * Returns the flows with due mail. It takes two index probes per flow that has mail, due or not, however much of it: with a million
 * deliveries due and 1,000 flows, 8 ms.
 */
export async function dueFlows(sql: AnySql): Promise<DueFlow[]> {
  return sql<DueFlow[]>`
    with recursive flow as (
      (select account_id, class from delivery_queue where worker_id is null order by account_id, class limit 1)
      union all
      select next.* from flow cross join lateral (
        select account_id, class from delivery_queue
         where worker_id is null and (account_id, class) > (flow.account_id, flow.class)
         order by account_id, class limit 1) next
    )
    select account_id as "accountId", class, floor(extract(epoch from service_now()) * 1000)::float8 as now from flow
     where exists (select from delivery_queue q where q.worker_id is null and q.account_id = flow.account_id
                                                  and q.class = flow.class and q.next_at <= service_now())`
}

/**
 * The body of a recursive query `flow`: a row for each flow that has mail in the queue, due or not, numbered from 1. One index probe per flow.
 * {@link dueFlows} walks over all of them.
 */
export function flowWalk(sql: AnySql, most: number): ReturnType<AnySql> {
  return sql`
    (select account_id, class, 1 as no from delivery_queue where worker_id is null order by account_id, class limit 1)
    union all
    select next.account_id, next.class, flow.no + 1 from flow cross join lateral (
      select account_id, class from delivery_queue
       where worker_id is null and (account_id, class) > (flow.account_id, flow.class)
       order by account_id, class limit 1) next
     where flow.no < ${most}`
}
