-- Deletion after retention periods, erasure of recipients, and the partitions of the coming weeks.

-- When a cleanup of the whole installation may run next: one worker runs it, at most once per minute.
create table retention_turns (
  name     text primary key,
  turn_at  timestamptz not null
);

insert into retention_turns (name, turn_at) values ('partitions', '-infinity'), ('accounts', '-infinity');

-- How far an account's bodies and events are deleted, if it keeps them for less time than the operator: up to the events with these
-- sequence numbers.
create table retention_cursors (
  account_id  integer primary key,
  bodies      bigint not null default 0,
  events      bigint not null default 0,
  due_at      timestamptz not null default service_now()
);
create index retention_cursors_due on retention_cursors (due_at);

-- A request to erase recipients of an account.
create table forget_requests (
  id               uuid primary key,
  account_id       integer not null references accounts,
  emails           integer not null,
  state            text not null default 'queued' check (state in ('queued', 'running', 'done')),
  requested_at     timestamptz not null default service_now(),
  completed_at     timestamptz,
  -- The addresses, encrypted, as long as they are needed.
  sealed           bytea,
  -- How far it is. Its worker locks the row for one batch; the next batch needs only what is stored here.
  stage            text not null default 'suppressions' check (stage in ('suppressions', 'queue', 'finished', 'waiting', 'last')),
  queue_message    uuid,
  queue_recipient  integer,
  subject_no       integer not null default 0,
  receipt          jsonb not null default '{}',
  due_at           timestamptz not null default service_now(),
  -- Accepts that were not yet committed when the request came belong to it.
  transaction      xid8 not null default pg_current_xact_id(),
  -- Messages of the next batch. Halved when a batch takes too long, so that each request makes progress.
  batch_size       integer not null default 200 check (batch_size > 0),
  constraint forget_requests_check check ((state = 'done') = (sealed is null))
);
create index forget_requests_due on forget_requests (due_at) where state <> 'done';

-- A message to a recipient who is being erased of which something still waits to be delivered.
create table forget_messages (
  request_id  uuid not null references forget_requests,
  subject_no  integer not null,
  message_id  uuid not null,
  -- Whether a delivery to that recipient still waits, as far as is known.
  held        boolean not null default true,
  looked_at   timestamptz,
  primary key (request_id, subject_no, message_id)
);
create index forget_messages_round on forget_messages (request_id, looked_at nulls first);

-- A suppressed address of an erased recipient: HMAC-SHA-256 with a key of SECRET_KEY, one per account.
create table forgotten (
  account_id          integer not null references accounts,
  hash                bytea not null,
  group_id            integer not null default 0,
  reason              text not null,
  since               timestamptz not null,
  held_until          timestamptz,
  -- As suppressions.unsubscribed_since.
  unsubscribed_since  timestamptz,
  primary key (account_id, hash, group_id)
);

-- An account with rows in `forgotten`. Processes keep this list in memory and read it every few seconds, so that other accounts need no
-- lookup.
create table forgotten_accounts (
  account_id  integer primary key references accounts,
  since       timestamptz not null default service_now()
);

-- Makes the partitions of the week of `moment`, of `weeks_ahead` weeks after it, and of the week before (hosts' clocks differ). Idempotent,
-- and safe to call from many processes at once. Returns the number of tables it made.
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

select ensure_partitions(service_now(), 6);
