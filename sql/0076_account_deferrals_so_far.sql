-- Of the days for which the sums of accounts are kept. The sequencer waits for these rows only.
insert into account_counts as s (account_id, hour, accepted, delivered, hard, soft, complained, deferred)
select account_id, hour, 0, 0, 0, 0, 0, sum(deferred)::int from delivery_counts
 where hour > service_now() - interval '31 days' group by account_id, hour having sum(deferred) > 0 order by account_id, hour
on conflict (account_id, hour) do update set deferred = excluded.deferred;
