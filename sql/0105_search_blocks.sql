-- expand
-- What searches for words read instead of messages: the texts of up to 64 deliveries of one account with neighbouring ids. A worker fills it a
-- minute after messages are accepted (docs/decisions/0038-search.md).
create table search_blocks (
  account_id  integer not null,
  -- The message of the first delivery, and its number there.
  first_id    uuid not null,
  first_no    integer not null,
  -- The message of the last delivery.
  last_id     uuid not null,
  -- A Bloom filter of the words.
  filter      bytea not null,
  -- For each delivery 16 octets of its message and 4 of its number.
  places      bytea not null,
  -- For each delivery a line with the words of each field.
  texts       text not null,
  primary key (account_id, first_id, first_no)
) partition by range (first_id);
-- The filter is read without the texts, which are stored apart if they are long; random bits do not get smaller.
alter table search_blocks alter column filter set storage plain;
do $$
begin
  alter table search_blocks alter column texts set compression lz4;
exception when feature_not_supported then
  null;
end
$$;

-- Up to which message, of all accounts, messages are in blocks. One row.
create table search_progress (
  only_row  boolean default true primary key check (only_row),
  up_to     uuid not null
);
insert into search_progress (up_to) values ('00000000-0000-0000-0000-000000000000');

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
    foreach parent in array array['messages', 'bodies', 'finished_deliveries', 'attempts', 'events', 'engagements', 'search_blocks'] loop
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

-- For the messages that are there, of any week.
do $$
declare
  part record;
begin
  for part in
    select right(c.relname, 7) as name, bound[1] as first, bound[2] as last
      from pg_inherits i join pg_class c on c.oid = i.inhrelid,
           regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM [(]'(.*)'[)] TO [(]'(.*)'[)]$re$) as bound
     where i.inhparent = 'messages'::regclass and c.relname ~ '^messages_\d{4}w\d\d$'
  loop
    execute format('create table if not exists %I partition of search_blocks for values from (%L) to (%L)',
                   'search_blocks_' || part.name, part.first, part.last);
  end loop;
end
$$;
