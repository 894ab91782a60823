-- expand
-- All transactions below this number that write to this database have ended or wrote no events, and the caller's next statement sees what they
-- wrote. The horizon of a snapshot spans all databases of the server: a long transaction in another one would delay all events.
create or replace function event_horizon() returns bigint
language plpgsql volatile
as $$
declare
  -- Numbers below it were given, and told to all, before this moment.
  next_number bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  oldest bigint;
  -- A pooler may drop the names of sessions: then no transaction is known to be another program's.
  names_are_kept boolean := current_setting('application_name') like 'postrider %';
begin
  -- Sessions of other roles hide their transactions from one without the right to see them.
  if not pg_has_role('pg_read_all_stats', 'usage') and exists (
    select from pg_stat_activity where datname = current_database() and usename <> current_user) then
    return pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  end if;
  perform pg_stat_clear_snapshot();
  select next_number - max(distance) into oldest
    from (
      select ((next_number & 4294967295) - number + 4294967296) & 4294967295 as distance
        from (
          select a.backend_xid::text::bigint as number from pg_stat_activity a
           where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_xid is not null
             -- A transaction that another program forgot to end, as a repair by hand, must not stop all events. One that has written events
             -- has this lock.
             and not (
               names_are_kept and a.application_name not like 'postrider %' and a.xact_start < service_now() - interval '10 seconds'
               and not exists (
                 select from pg_locks l
                  where l.pid = a.pid and l.database = (select oid from pg_database where datname = current_database())
                    and l.mode = 'RowExclusiveLock' and l.relation in (select relid from pg_partition_tree('events'))))
          union all
          -- A prepared transaction writes nothing more.
          select p.transaction::text::bigint from pg_prepared_xacts p
           where p.database = current_database() and exists (
             select from pg_locks l
              where l.pid is null and l.virtualtransaction = '-1/' || p.transaction::text
                and l.mode = 'RowExclusiveLock' and l.relation in (select relid from pg_partition_tree('events')))
        ) running
    ) behind
   -- The others began since.
   where distance < 2147483648;
  return coalesce(oldest, next_number);
end
$$;
