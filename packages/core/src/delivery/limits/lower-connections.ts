import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { ADAPTIVE_RULE, LIMITS_CHANNEL } from './overrides.ts'
import { keepIfEnded } from './past-limits.ts'

/** A session that a destination has refused for now. */
export interface RefusedSession {
  readonly place: string
  readonly workerId: number
  /** Other connections of this worker to the destination. */
  readonly others: number
  /** The reply that refused it. */
  readonly reason: string
}

/** Seconds after the last refusal in which connections remain limited. */
const LASTS = 7200
/** Seconds until one more is tried, kept in the column `seconds`, which only a rate needs otherwise: at first, and after that was refused. */
const RAISE = { first: 15, atLeast: 300 } as const

/**
 * Limits the connections to a destination to those that it did not refuse, over all workers, if there are any others than the refused one. Returns
 * whether there are. How many it takes is learned as in RFC 5681: the limit is raised twice as far while no raise was refused, and by one after that.
 * A destination that refuses the only session takes none for now, which says nothing of how many it takes later: an earlier limit is raised as at first.
 */
export async function lowerConnections(sql: AnySql, session: RefusedSession): Promise<boolean> {
  const { place, workerId, others, reason } = session
  const row = onlyRow(
    await sql<{ open: number }[]>`
      with ${keepIfEnded(sql, { place, accountId: null, setting: 'connections', rule: ADAPTIVE_RULE })}, open as (
        select ${others}::int + count(*)::int as open from connection_slots where place = ${place} and worker_id <> ${workerId}
      ), written as (
        insert into limit_overrides as o (place, account_id, setting, value, seconds, rule, reason, since, until, step_at)
        select ${place}, null, 'connections', open, ${RAISE.first}::int, ${ADAPTIVE_RULE}, ${reason}, service_now(),
               service_now() + make_interval(secs => ${LASTS}::int), service_now() + make_interval(secs => ${RAISE.first}::int)
          from open where open > 0
        on conflict (place, account_id, setting, rule) do update
           set value = case when o.until > service_now() then least(o.value, excluded.value) else excluded.value end,
               seconds = case when o.until > service_now() and o.seconds > ${RAISE.first}::int then ${RAISE.atLeast}::int else ${RAISE.first}::int end,
               since = case when o.until > service_now() then o.since else excluded.since end,
               reason = excluded.reason, until = excluded.until,
               step_at = service_now() + make_interval(secs =>
                 case when o.until > service_now() and o.seconds > ${RAISE.first}::int then ${RAISE.atLeast}::int else ${RAISE.first}::int end)
        returning 1
      ), relearned as (
        update limit_overrides o
           set seconds = ${RAISE.first}::int, step_at = service_now() + make_interval(secs => ${RAISE.first}::int)
          from open
         where open = 0 and o.place = ${place} and o.account_id is null and o.setting = 'connections' and o.rule = ${ADAPTIVE_RULE}
           and o.seconds > ${RAISE.first}::int and o.until > service_now()
      )
      select open, (select pg_notify(${LIMITS_CHANNEL}, '') from written) from open`,
  )
  return row.open > 0
}

/** Raises the limits of connections whose time it is, at most 1000 of them. */
export async function raiseConnections(sql: AnySql): Promise<void> {
  await sql`
    with raised as (
      update limit_overrides o
         set value = case when seconds < ${RAISE.atLeast}::int then 2 * value else value + 1 end,
             seconds = least(2 * seconds, ${RAISE.atLeast}::int),
             step_at = service_now() + make_interval(secs => least(2 * seconds, ${RAISE.atLeast}::int))
       where id in (select id from limit_overrides
                     where rule = ${ADAPTIVE_RULE} and setting = 'connections' and step_at <= service_now() and until > service_now()
                     limit 1000 for update skip locked)
      returning 1
    )
    select pg_notify(${LIMITS_CHANNEL}, '') from raised limit 1`
}
