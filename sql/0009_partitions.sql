-- Weekly partitions, made ahead of time by whichever process comes first.

-- Makes the partitions of the week of `moment` and of `weeks_ahead` weeks after it, and of the week before (hosts' clocks
-- differ). Promises: idempotent, safe to call from many processes at once. Answers how many tables it made.
create function ensure_partitions(moment timestamptz, weeks_ahead integer) returns integer
language plpgsql
as $$
declare
  made integer := 0;
  first_week timestamptz := date_trunc('week', moment, 'UTC') - interval '7 days';
  week timestamptz;
  next_week timestamptz;
  parent text;
  partition text;
begin
  perform pg_advisory_xact_lock(7740, 0);
  for number in 0 .. weeks_ahead + 1 loop
    week := first_week + number * interval '7 days';
    next_week := week + interval '7 days';
    foreach parent in array array['messages', 'bodies', 'finished_deliveries', 'attempts', 'events'] loop
      partition := parent || to_char(week at time zone 'UTC', '"_"IYYY"w"IW');
      if to_regclass(partition) is not null then
        continue;
      end if;
      if parent = 'events' then
        execute format('create table %I partition of %I for values from (%L) to (%L)', partition, parent, week, next_week);
      else
        execute format('create table %I partition of %I for values from (%L) to (%L)', partition, parent,
                       uuidv7_floor(week), uuidv7_floor(next_week));
      end if;
      if parent = 'bodies' then
        -- Up to 8 kB a body stays in its row: no TOAST table, no second index.
        execute format('alter table %I set (toast_tuple_target = 8160)', partition);
      end if;
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

select ensure_partitions(service_now(), 6);
