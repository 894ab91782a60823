-- backfill roll_up_sums
-- The accounts that have had more than a hundred names of a subject on a day. Others are found when they have (statistics/sum-names.ts).
with step as (
  select id from accounts where id > coalesce($1::text::integer, 0) order by id limit 200
), large as (
  insert into roll_up_sums (account_id, subject, through)
  select step.id, wanted.subject, date_trunc('week', earliest.day)::date
    from step
   cross join unnest(array['domain', 'tag', 'recipient_domain']) wanted(subject)
   cross join lateral (
     select day from roll_ups where account_id = step.id and subject = wanted.subject order by day limit 1) earliest
   where exists (
     select from roll_ups where account_id = step.id and subject = wanted.subject group by day having count(*) > 100)
  on conflict do nothing
  returning account_id
)
select case when count(*) = 200 then max(id)::text end as bookmark, (select count(*) from large) as rows from step
