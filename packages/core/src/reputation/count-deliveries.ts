import { DELIVERY_CLASSES, NORMAL } from '../accounts/mail-class.ts'
import { BLOCKED_CLASSES, HARD_CLASSES } from '../delivery/outcomes/bounce-rules.ts'
import { eventTypesWhere } from '../events/event-types.ts'
import type { SqlTransaction } from '../platform/database/database.ts'
import type { Batch } from '../reporting/events/index.ts'
import { JUDGED_VOLUME } from './rules.ts'

const TYPES = eventTypesWhere((_row, type) =>
  ['processed', 'sent', 'deferred', 'bounced', 'expired', 'complained', 'unsubscribed'].includes(type),
)
/** The columns of delivery_counts that are counts. */
export const COUNTS = [
  'accepted',
  'attempts',
  'delivered',
  'deferred',
  'hard',
  'soft',
  'blocked',
  'late',
  'complained',
  'unsubscribed',
  'blocked_deferred',
]
const PROVIDER_SUMS = ['attempts', 'blocked_deferred']
const SUMS = ['accepted', 'delivered', 'deferred', 'hard', 'soft', 'complained']

/**
 * Adds a batch of events to the counts of each hour, in the transaction that numbers them, so that each counts once despite crashes. Notes the
 * accounts whose reputation may have changed. Takes about 5 µs per event (`node bench/cpu.ts` shows the statement).
 */
export async function countDeliveries(
  sql: SqlTransaction,
  { after, to }: Batch,
  providers: readonly string[],
): Promise<void> {
  const write = sql.unsafe
  const names = write(COUNTS.join(', '))
  const added = (table: string, metrics: readonly string[]) =>
    write(metrics.map((metric) => `${metric} = ${table}.${metric} + excluded.${metric}`).join(', '))
  await sql`
    with happened as (
      select e.account_id, date_trunc('hour', e.occurred_at, 'UTC') as hour, e.message_id, e.recipient_no, e.type,
             (e.detail->>'attempt')::int as attempt, e.detail->>'class' as bounce_class, (e.detail->>'late') is not null as is_late
        from events e
       where e.transaction > ${after}::xid8 and e.transaction <= ${to}::xid8 and e.type = any(${TYPES}::text[])
    ), described as (
      -- Lateral with a limit: each row is found by index in one partition, whatever the planner expects (statistics/rollup.ts).
      select h.*, coalesce(m.domain_id, 0) as domain_id,
             coalesce(array_position(${[...DELIVERY_CLASSES]}::text[], m.class) - 1, ${NORMAL}::int)::smallint as class,
             a.place, a.blocked, split_part(coalesce(a.place, ''), '@', 1) as base,
             h.type = 'bounced' and h.bounce_class = any(${[...HARD_CLASSES]}::text[]) as is_hard
        from happened h
        left join lateral (
          select domain_id, settings->>'class' as class from messages where id = h.message_id limit 1) m on true
        left join lateral (
          select place, blocked from attempts
           where message_id = h.message_id and recipient_no = h.recipient_no and (h.attempt is null or attempt = h.attempt)
           order by attempt desc limit 1) a on h.type <> 'processed'
    ), counted as materialized (
      select account_id, hour, domain_id, class,
             case when base = any(${[...providers]}::text[]) then base else '' end as provider,
             case when position('@' in place) > 0 then split_part(place, '@', 2) else '' end as source,
             count(*) filter (where type = 'processed')::int as accepted,
             count(*) filter (where type in ('sent', 'deferred', 'expired') or (type = 'bounced' and not is_late))::int as attempts,
             count(*) filter (where type = 'sent')::int as delivered,
             count(*) filter (where type = 'deferred')::int as deferred,
             count(*) filter (where is_hard)::int as hard,
             count(*) filter (where type = 'expired' or (type = 'bounced' and not is_hard))::int as soft,
             count(*) filter (where type = 'bounced' and bounce_class = any(${[...BLOCKED_CLASSES]}::text[]))::int as blocked,
             count(*) filter (where type = 'bounced' and is_late)::int as late,
             count(*) filter (where type = 'complained')::int as complained,
             count(*) filter (where type = 'unsubscribed')::int as unsubscribed,
             count(*) filter (where type = 'deferred' and blocked)::int as blocked_deferred
        from described group by 1, 2, 3, 4, 5, 6
    ), stored as (
      insert into delivery_counts as d (account_id, hour, domain_id, class, provider, source, ${names})
      select account_id, hour, domain_id, class, provider, source, ${names} from counted
       order by account_id, hour, domain_id, class, provider, source
      on conflict (account_id, hour, domain_id, class, provider, source) do update set ${added('d', COUNTS)}
    ), summed as (
      insert into account_counts as s (account_id, hour, ${write(SUMS.join(', '))})
      select account_id, hour, ${write(SUMS.map((metric) => `sum(${metric})::int`).join(', '))} from counted
       group by account_id, hour order by account_id, hour
      on conflict (account_id, hour) do update set ${added('s', SUMS)}
      returning account_id, accepted
    ), of_providers as (
      insert into provider_counts as p (account_id, hour, provider, ${write(PROVIDER_SUMS.join(', '))})
      select account_id, hour, provider, ${write(PROVIDER_SUMS.map((metric) => `sum(${metric})::int`).join(', '))} from counted
       where provider <> '' and attempts > 0 group by account_id, hour, provider order by account_id, hour, provider
      on conflict (account_id, hour, provider) do update set ${added('p', PROVIDER_SUMS)}
    )
    insert into reputation_due (account_id)
    select account_id from summed where accepted > ${JUDGED_VOLUME}
    union
    select account_id from counted where hard > 0 or complained > 0 or (blocked_deferred > 0 and provider <> '')
     order by account_id
    -- The lock makes an evaluation that began before this transaction ends wait for its counts.
    on conflict (account_id) do update set account_id = excluded.account_id`
}
