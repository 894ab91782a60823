import type { TestService } from '../../../helpers/service.ts'

export interface Counted {
  readonly accountId: number
  readonly subject: string
  readonly name: string
  readonly day: string
}

/** Every roll-up that is kept; of delivery times those that there were. */
export async function keptCounts({ sql }: TestService): Promise<Counted[]> {
  return sql<Counted[]>`
    select account_id as "accountId", subject, name, day::text, processed::int, sent::int, deferred::int, hard_bounced::int as hard,
           soft_bounced::int as soft, expired::int, dropped::int, invalid::int,
           late_dropped::int as late, bounce_dropped::int as "bounceDrops", complaint_dropped::int as "complaintDrops",
           unsubscribe_dropped::int as "unsubscribeDrops", opened::int, unique_opened::int as "uniqueOpened",
           machine_opened::int as "machineOpened", clicked::int, unique_clicked::int as "uniqueClicked",
           machine_clicked::int as "machineClicked", unsubscribed::int, complained::int,
           (select jsonb_object_agg(bucket, n order by bucket) from unnest(delivery_times) with ordinality t(n, bucket) where n > 0) as times
      from roll_ups order by account_id, subject, name, day`
}

/** Every roll-up as it should be, counted from the events in the plainest way. */
export async function independentCounts({ sql }: TestService): Promise<Counted[]> {
  return sql.begin(async (transaction) => {
    await transaction`set local statement_timeout = 0`
    await transaction`set local plan_cache_mode = auto`
    await transaction`analyze messages, events, finished_deliveries, delivery_queue`
    return transaction<Counted[]>`
      with told as (
        select e.account_id, (e.occurred_at at time zone a.time_zone)::date::text as day, e.type, coalesce(e.detail, '{}') as detail,
               m.from_address, m.tags, d.recipient_domain, coalesce(e.occurred_at > m.accepted_at, false) as late,
               case when e.type = 'sent' and m.id is not null
                    then extract(epoch from e.occurred_at - greatest(m.accepted_at, m.scheduled_at))::float8 end as seconds
          from events e
          join accounts a on a.id = e.account_id
          left join messages m on m.id = e.message_id
          left join (select message_id, recipient_no, recipient_domain from finished_deliveries
                     union all select message_id, recipient_no, recipient_domain from delivery_queue) d
                 on d.message_id = e.message_id and d.recipient_no = e.recipient_no
         where e.type <> 'domain'
      ), timed as materialized (
        select told.*, case when seconds is not null then (
                 select min(n) from generate_series(1, 120) n where 0.01::float8 * 2::float8 ^ ((n - 1) / 4.0::float8) >= seconds)
               end as bucket
          from told
      ), named as materialized (
        select 'total' as subject, '' as name, * from timed
        union all select 'domain', split_part(from_address, '@', 2), * from timed where from_address is not null
        union all select 'recipient_domain', recipient_domain, * from timed where recipient_domain is not null
        union all select 'tag', tag, timed.* from timed cross join lateral (select distinct unnest(tags) as tag) each
      ), times as (
        select account_id, subject, name, day, jsonb_object_agg(bucket, n order by bucket) as times
          from (select account_id, subject, name, day, bucket, count(*)::int as n from named where bucket is not null
                 group by 1, 2, 3, 4, 5) each
         group by 1, 2, 3, 4
      ), counts as (
        select account_id, subject, name, day,
               count(*) filter (where type = 'processed')::int as processed, count(*) filter (where type = 'sent')::int as sent,
               count(*) filter (where type = 'deferred')::int as deferred,
               count(*) filter (where type = 'bounced' and detail->>'class' in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting'))::int as hard,
               count(*) filter (where type = 'bounced' and detail->>'class' in ('mailbox-full', 'mailbox-inactive', 'other'))::int as soft,
               count(*) filter (where type = 'expired')::int as expired, count(*) filter (where type = 'dropped')::int as dropped,
               count(*) filter (where type = 'dropped' and late)::int as late,
               count(*) filter (where type = 'dropped' and detail->>'reason' = 'hardbounce')::int as "bounceDrops",
               count(*) filter (where type = 'dropped' and detail->>'reason' = 'abuse')::int as "complaintDrops",
               count(*) filter (where type = 'dropped' and detail->>'reason' in ('unsubscribe', 'manual', 'global'))::int
                 as "unsubscribeDrops",
               count(*) filter (where type = 'invalid')::int as invalid,
               count(*) filter (where type = 'opened' and not detail ? 'machine')::int as opened,
               count(*) filter (where type = 'opened' and detail @> '{"first": true}')::int as "uniqueOpened",
               count(*) filter (where type = 'opened' and detail ? 'machine')::int as "machineOpened",
               count(*) filter (where type = 'clicked' and not detail ? 'machine')::int as clicked,
               count(*) filter (where type = 'clicked' and detail @> '{"first": true}')::int as "uniqueClicked",
               count(*) filter (where type = 'clicked' and detail ? 'machine')::int as "machineClicked",
               count(*) filter (where type = 'unsubscribed')::int as unsubscribed,
               count(*) filter (where type = 'complained')::int as complained
          from named group by 1, 2, 3, 4
      )
      select c.account_id as "accountId", c.subject, c.name, c.day, processed, sent, deferred, hard, soft, expired, dropped, invalid,
             late, "bounceDrops", "complaintDrops", "unsubscribeDrops", opened, "uniqueOpened", "machineOpened", clicked, "uniqueClicked",
             "machineClicked", unsubscribed,
             complained, t.times
        from counts c left join times t using (account_id, subject, name, day)
       order by c.account_id, c.subject, c.name, c.day`
  }) as Promise<Counted[]>
}
