import { eventTypesWhere } from '../../events/event-types.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import { type Batch, HARD_BOUNCES } from '../events/index.ts'
import { DROPS, METRICS, NAMES_A_DAY, WEEK } from './metrics.ts'

/** Adds a batch of events to the rollups, in the transaction that numbers them, so that each counts once despite crashes. */
export async function rollUp(sql: SqlTransaction, { after, to }: Batch): Promise<void> {
  await addEvents(sql, sql`e.transaction > ${after}::xid8 and e.transaction <= ${to}::xid8`)
}

/** The metric of an event, from its type and detail. */
const metricOf = (sql: SqlTransaction) => sql`
  case e.type
    when 'bounced' then case when e.detail->>'class' = any(${[...HARD_BOUNCES]}::text[]) then 'hard_bounced' else 'soft_bounced' end
    when 'opened' then case when e.detail->>'machine' is null then 'opened' else 'machine_opened' end
    when 'clicked' then case when e.detail->>'machine' is null then 'clicked' else 'machine_clicked' end
    else e.type end`

const counted = METRICS.filter((metric) => metric !== 'late_dropped')
  .map((metric) => {
    const reasons = DROPS[metric]
    if (reasons) return `count(*) filter (where reason in (${reasons.map((one) => `'${one}'`)}))::integer as ${metric}`
    const [, first, plain] = /^(unique_)?(\w+)$/.exec(metric) ?? []
    return `count(*) filter (where metric = '${plain}'${first ? ' and first' : ''})::integer as ${metric}`
  })
  .join(', ')
/** The types of events that are counted. */
const COUNTED = eventTypesWhere(({ countedAs }) => countedAs.length > 0)
const columns = METRICS.join(', ')
const summed = METRICS.map((metric) => `sum(${metric})::integer as ${metric}`).join(', ')
const added = METRICS.map((metric) => `${metric} = r.${metric} + excluded.${metric}`).join(', ')

/**
 * Adds the events `e` that satisfy the condition, in one statement that takes about 10 µs per event.
 *
 * The joins are lateral with a limit, so that each delivery finds its message by index in one partition. The planner plans once for
 * any number of events, and for an ordinary join it may choose to read all messages. Events whose message is no longer stored count
 * only in the total.
 */
export async function addEvents(sql: SqlTransaction, condition: ReturnType<SqlTransaction>): Promise<void> {
  const write = sql.unsafe
  await sql`
    with new_events as (
      select e.account_id, (e.occurred_at at time zone coalesce(a.time_zone, 'UTC'))::date as day, e.message_id, e.recipient_no,
             e.occurred_at, ${metricOf(sql)} as metric, e.detail->>'first' = 'true' as first,
             case when e.type = 'dropped' then e.detail->>'reason' end as reason,
             row_number() over (order by e.transaction, e.id) as nth
        from events e left join accounts a on a.id = e.account_id
       where ${condition} and e.type = any(${COUNTED}::text[])
    ), delivery as (
      select account_id, day, message_id, recipient_no, min(nth) as nth, min(occurred_at) as since,
             min(occurred_at) filter (where metric = 'sent') as sent_at,
             array_agg(occurred_at) filter (where metric = 'dropped') as dropped_at, ${write(counted)}
        from new_events group by account_id, day, message_id, recipient_no
    ), described as (
      -- Deliveries dropped when the message is accepted have exactly its time; those dropped later were processed.
      select d.*, case when d.dropped = 0 then 0 else
               (select count(*)::integer from unnest(d.dropped_at) each(at) where each.at > m.accepted_at) end as late_dropped,
             array['', m.domain, f.recipient_domain] || m.tags as names,
             case when d.sent_at is not null and m.due_at is not null
                  then delivery_time_bucket(date_part('epoch', d.sent_at - coalesce(f.due_at, m.due_at))) end as bucket
        from delivery d
        left join lateral (
          select split_part(from_address, '@', -1) as domain, accepted_at, greatest(accepted_at, scheduled_at) as due_at,
                 case when cardinality(tags) > 1 then array(select distinct tag from unnest(tags) tag) else tags end as tags
            from messages where id = d.message_id limit 1) m on true
        left join lateral (
          select recipient_domain, (personal->>'scheduledAt')::timestamptz as due_at from finished_deliveries
          where message_id = d.message_id and recipient_no = d.recipient_no
          union all
          select recipient_domain, (personal->>'scheduledAt')::timestamptz from delivery_queue where message_id = d.message_id and recipient_no = d.recipient_no
          limit 1) f on true
    ), part as (
      -- Names after those of these three subjects are tags.
      select account_id, day, unnest(array['total', 'domain', 'recipient_domain']) as subject, unnest(names) as name,
             nth, since, bucket, ${write(columns)}
        from described
    ), grouped as (
      select account_id, day, coalesce(subject, 'tag') as subject, name, min(nth) as nth, min(since) as since,
             count_buckets(array_agg(bucket) filter (where bucket is not null)) as delivery_times, ${write(summed)}
        from part where name is not null and (name <> '' or subject in ('total', 'recipient_domain'))
       group by account_id, day, coalesce(subject, 'tag'), name
    ), known as (
      select g.*, earlier.place as earlier_place, last.place as last_place
        from grouped g
        left join lateral (
          select place from roll_ups
           -- Rows are compared, since with name and day the planner considers the index of days as good as the key.
           where account_id = g.account_id and subject = g.subject and (name, day) >= (g.name, g.day) and (name, day) <= (g.name, g.day)
             and g.subject in ('tag', 'recipient_domain') limit 1) earlier on true
        left join lateral (
          select place from roll_ups
           where account_id = g.account_id and subject = g.subject and day = g.day
             and g.subject in ('tag', 'recipient_domain') and earlier.place is null
           order by place desc limit 1) last on true
    ), placed as (
      select *, subject in ('tag', 'recipient_domain') and earlier_place is null as fresh,
             row_number() over (partition by account_id, subject, day, earlier_place is null order by nth, name) as after_last
        from known
    ), settled as materialized (
      select *, case when fresh then coalesce(last_place, 0) + after_last end as place,
             fresh and coalesce(last_place, 0) + after_last > ${NAMES_A_DAY} as beyond
        from placed
    ), named as (
      insert into tags (account_id, name, created_at)
      select account_id, name, min(since) from settled where subject = 'tag' and fresh and not beyond
       group by account_id, name order by account_id, name
      on conflict do nothing
    ), counted as (
      select account_id, subject as of_subject, subject, name, day, place, delivery_times, ${write(columns)} from settled where not beyond
      union all
      select account_id, subject, 'other ' || subject, '', day, null, sum_counts(delivery_times), ${write(summed)}
        from settled where beyond group by account_id, subject, day
    ), late as (
      -- Of days that are summed (sum-names.ts).
      select c.*, date_trunc('week', c.day)::date as monday, s.through
        from counted c join roll_up_sums s on s.account_id = c.account_id and s.subject = c.of_subject and c.day < s.through
    )
    insert into roll_ups as r (account_id, subject, name, day, place, delivery_times, ${write(columns)})
    select * from (
      select account_id, subject, name, day, place, delivery_times, ${write(columns)} from counted
      union all
      select account_id, 'all ' || of_subject, '', day, null, sum_counts(delivery_times), ${write(summed)}
        from late group by account_id, of_subject, day
      union all
      select account_id, subject || ${WEEK}::text, name, monday, null, sum_counts(delivery_times), ${write(summed)}
        from late where monday + 7 <= through group by account_id, subject, name, monday) each
     order by account_id, subject, name, day
    on conflict (account_id, subject, name, day) do update
       set ${write(added)}, delivery_times = add_counts(r.delivery_times, excluded.delivery_times)`
}
