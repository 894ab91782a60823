-- What readers do. A hit is what arrived at a pixel or link, kept until a delivery worker has judged it; an event is what is
-- made of it, some seconds later, when all that tells a machine from a person is known: the delivery's outcome, and what else
-- was asked for at the same moment.

create table hits (
  -- Made by whoever took it, so that one written twice counts once.
  id            uuid not null,
  at            timestamptz not null,
  account_id    integer not null,
  message_id    uuid not null,
  recipient_no  integer not null,
  kind          text not null check (kind in ('opened', 'clicked')),
  -- clicked: which link of the message, and where it leads.
  link          integer,
  url           text,
  -- Not in privacy mode.
  ip            text,
  user_agent    text,
  -- The machine rule it met, and the version of the rules.
  machine       text,
  rules         smallint not null,
  primary key (id)
) with (
  -- Rows live for seconds, as in the queue.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
-- What is due to be judged, oldest first.
create index hits_at on hits (at);
-- What else was asked for of the same delivery.
create index hits_delivery on hits (message_id, recipient_no);

-- Who met a message, people and machines apart: a row's making is the first time, and its count of the hour is what keeps a
-- loop from filling the event log. Of no person: numbers only.
create table engagements (
  message_id    uuid not null,
  recipient_no  integer not null,
  kind          text not null check (kind in ('opened', 'clicked')),
  machine       boolean not null,
  total         integer not null,
  hour          timestamptz not null,
  in_hour       integer not null,
  primary key (message_id, recipient_no, kind, machine)
) partition by range (message_id);

create or replace function ensure_partitions(moment timestamptz, weeks_ahead integer) returns integer
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
    foreach parent in array array['messages', 'bodies', 'finished_deliveries', 'attempts', 'events', 'engagements'] loop
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

-- For every week that has messages: one that was accepted long ago may be scheduled for tomorrow.
do $$
declare
  old record;
begin
  for old in select substr(c.relname, length('messages_')) as week, pg_get_expr(c.relpartbound, c.oid) as bound
               from pg_inherits i join pg_class c on c.oid = i.inhrelid
              where i.inhparent = 'messages'::regclass and c.relname ~ '^messages_\d{4}w\d\d$'
  loop
    execute format('create table %I partition of engagements %s', 'engagements' || old.week, old.bound);
  end loop;
end
$$;
