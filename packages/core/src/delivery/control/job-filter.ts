import type { DeliveryClass } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { NEVER } from '../../platform/never.ts'
import { isAtDestination } from '../limits/destination-names.ts'
import { concernsDestination } from '../limits/overrides.ts'
import type { BounceClass } from '../outcomes/bounce-rules.ts'

type Fragment = ReturnType<AnySql>

/** Actions on deliveries in the queue, and `requeue`, which concerns finished ones. */
export const QUEUE_ACTIONS = ['flush', 'fail', 'hold', 'release', 'reroute', 'requeue'] as const
export type QueueAction = (typeof QUEUE_ACTIONS)[number]
export type WaitingAction = Exclude<QueueAction, 'requeue'>

/** The deliveries of a job; all conditions must be met, and none means all. */
export interface JobFilter {
  /** Parked at this destination, or at one of this provider or site and a source; of finished deliveries, tried there last. */
  readonly place?: string | undefined
  /** The recipient's domain. */
  readonly domain?: string | undefined
  readonly accountId?: number | undefined
  readonly class?: DeliveryClass | undefined
  readonly tag?: string | undefined
  /** Accepted before this time, in ISO 8601. */
  readonly before?: string | undefined
  /** Of `reroute`: the id of the pool of sources that they are to be sent from; null to let rules choose. */
  readonly toPool?: number | null | undefined
  /** Of finished deliveries: bounced or expired at this time or later, and before that time; ISO 8601. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly state?: 'bounced' | 'expired' | undefined
  readonly bounceClass?: BounceClass | undefined
}

/**
 * The condition on rows of `delivery_queue q`. In flight is none of them. `release` concerns held mail; `hold` all other mail that may become due
 * by itself; `reroute` what goes to another pool; `fail` all. `flush` leaves out scheduled mail, mail that an operator or a paused batch holds,
 * mail at a paused destination, and mail whose wait is a precaution: after an indeterminate attempt, or after the death of a worker.
 *
 * Comparisons are such that cannot use an index: the rows are found by others.
 */
export function filterOf(sql: AnySql, action: WaitingAction, filter: JobFilter): Fragment {
  const { place, domain, accountId, class: of, tag, before, toPool = null } = filter
  const when = (condition: boolean, fragment: () => Fragment): Fragment => (condition ? fragment() : sql``)
  return sql`
    q.worker_id is null and ${ofAction(sql, action, toPool)}
    ${when(place !== undefined, () => sql`and ${isAtDestination(sql, sql`q.place`, place as string)}`)}
    ${when(domain !== undefined, () => sql`and q.recipient_domain = ${domain as string}::text`)}
    ${when(accountId !== undefined, () => sql`and q.account_id is not distinct from ${accountId as number}::int`)}
    ${when(of !== undefined, () => sql`and q.class = ${of as number}::int`)}
    ${when(before !== undefined, () => sql`and q.message_id < uuidv7_floor(${before as string}::text::timestamptz)`)}
    ${when(
      tag !== undefined,
      () =>
        sql`and exists (select from messages m where m.id = q.message_id and ${tag as string}::text = any(m.tags) offset 0)`,
    )}`
}

function ofAction(sql: AnySql, action: WaitingAction, toPool: number | null): Fragment {
  const isHeld = sql`q.waiting_for is not distinct from 'hold'`
  switch (action) {
    case 'fail':
      return sql`true`
    case 'release':
      return sql`${isHeld}`
    case 'hold':
      return sql`not (${isHeld}) and q.set_aside is null and q.next_at < ${NEVER}::timestamptz`
    case 'reroute':
      return sql`q.set_aside is null and q.pool_id is distinct from ${toPool}::int`
    case 'flush':
      return sql`
        not (${isHeld}) and q.set_aside is null and q.state <> 'scheduled' and q.only_host is null and q.blamed = 0
        and (q.next_at > service_now() or q.place is not null)
        and (q.place is null or not exists (
              select from limit_overrides o
               where ${concernsDestination(sql, sql`o`, sql`q.place`)} and o.setting = 'pause' and o.until > service_now()
                 and (o.account_id is null or o.account_id = q.account_id)))`
  }
}
