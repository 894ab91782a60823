-- Statistics: counts made from events, in the transaction that numbers them (core/stats/roll-up.ts).

-- One row an account, local day and subject. They outlast their events, and tell of no person, unless a tag names one: see
-- fold_tags.
create table roll_ups (
  account_id      integer not null,
  -- Whose counts: all mail of the account (name ''), or that of one sending domain, tag or recipient domain. The 'other' ones
  -- (name '') hold what came with any further name on a day that has its thousand.
  subject         text collate "C" not null
                  check (subject in ('total', 'domain', 'tag', 'recipient_domain', 'other tag', 'other recipient_domain')),
  name            text collate "C" not null,
  -- The day of the event in the account's time zone, as it was when the event was counted.
  day             date not null,
  -- Of a tag or recipient domain: which of the day's names it is, from 1 in the order of their first events.
  place           integer,
  processed       bigint not null,
  sent            bigint not null,
  deferred        bigint not null,
  hard_bounced    bigint not null,
  soft_bounced    bigint not null,
  expired         bigint not null,
  dropped         bigint not null,
  invalid         bigint not null,
  opened          bigint not null,
  unique_opened   bigint not null,
  machine_opened  bigint not null,
  clicked         bigint not null,
  unique_clicked  bigint not null,
  machine_clicked bigint not null,
  unsubscribed    bigint not null,
  complained      bigint not null,
  -- How many deliveries took how long from their due time: element n counts those of delivery_time_bucket n. Null: none.
  delivery_times  integer[],
  primary key (account_id, subject, name, day)
) with (
  -- The rows of a day are written by each batch: new versions stay on their page.
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0
);
-- All names of a span of days; the last place taken on a day.
create index roll_ups_day on roll_ups (account_id, subject, day, place);

-- The tags an account's mail ever had, as far as they are counted.
create table tags (
  account_id  integer not null,
  name        text collate "C" not null,
  created_at  timestamptz not null,
  primary key (account_id, name)
);

-- A name that the database does not know would stop the counting of every account's events.
create function is_time_zone(name text) returns boolean
language plpgsql immutable
as $$
begin
  perform timestamptz '2000-01-01 00:00Z' at time zone name;
  return true;
exception when invalid_parameter_value then
  return false;
end
$$;
alter table accounts add constraint accounts_time_zone check (is_time_zone(time_zone));

-- Four buckets for each doubling: 1 up to 10 ms, 5 up to 20 ms, 110 all from 19 days on. Whoever reads a middle errs by 9 % at most.
-- Not to be asked about null.
create function delivery_time_bucket(seconds double precision) returns integer
language sql immutable
as $$
  select 1 + least(ceil(4 * ln(greatest(seconds, 0.01) / 0.01) / ln(2::double precision)), 109)::integer
$$;

-- The histogram of some buckets.
create function count_buckets(buckets integer[]) returns integer[]
language plpgsql immutable strict
as $$
declare
  counts integer[] := array_fill(0, array[(select max(each) from unnest(buckets) each)]);
  bucket integer;
begin
  foreach bucket in array buckets loop
    counts[bucket] := counts[bucket] + 1;
  end loop;
  return counts;
end
$$;

-- Adds two histograms of any lengths. At the end of its range a count stands still, rather than stop the counting of all.
create function add_counts(one integer[], other integer[]) returns integer[]
language sql immutable
as $$
  select case when one is null then other when other is null then one else
    array(select least(coalesce(a, 0)::bigint + coalesce(b, 0), 2147483647)::integer from unnest(one, other) as both_of(a, b))
  end
$$;

create aggregate sum_counts(integer[]) (sfunc = add_counts, stype = integer[]);

-- Takes the names of some tags of an account out of its statistics, as when a person is in them: what was counted of them goes
-- to what is counted together. To be called with the row of event_cursors locked, so that nothing is counted meanwhile.
create function fold_tags(of_account integer, names text[]) returns void
language sql
as $$
  with gone as (
    delete from roll_ups where account_id = of_account and subject = 'tag' and name = any(names) returning *
  )
  insert into roll_ups as r (account_id, subject, name, day, delivery_times,
      processed, sent, deferred, hard_bounced, soft_bounced, expired, dropped, invalid, opened, unique_opened,
      machine_opened, clicked, unique_clicked, machine_clicked, unsubscribed, complained)
  select account_id, 'other tag', '', day, sum_counts(delivery_times),
      sum(processed), sum(sent), sum(deferred), sum(hard_bounced), sum(soft_bounced), sum(expired), sum(dropped),
      sum(invalid), sum(opened), sum(unique_opened), sum(machine_opened), sum(clicked), sum(unique_clicked),
      sum(machine_clicked), sum(unsubscribed), sum(complained)
    from gone group by account_id, day order by day
  on conflict (account_id, subject, name, day) do update
     set delivery_times = add_counts(r.delivery_times, excluded.delivery_times),
         processed = r.processed + excluded.processed, sent = r.sent + excluded.sent,
         deferred = r.deferred + excluded.deferred, hard_bounced = r.hard_bounced + excluded.hard_bounced,
         soft_bounced = r.soft_bounced + excluded.soft_bounced, expired = r.expired + excluded.expired,
         dropped = r.dropped + excluded.dropped, invalid = r.invalid + excluded.invalid,
         opened = r.opened + excluded.opened, unique_opened = r.unique_opened + excluded.unique_opened,
         machine_opened = r.machine_opened + excluded.machine_opened, clicked = r.clicked + excluded.clicked,
         unique_clicked = r.unique_clicked + excluded.unique_clicked,
         machine_clicked = r.machine_clicked + excluded.machine_clicked,
         unsubscribed = r.unsubscribed + excluded.unsubscribed, complained = r.complained + excluded.complained;
  delete from tags where account_id = of_account and name = any(names);
$$;
