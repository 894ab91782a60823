-- What the event log, statistics and webhooks read: gap-free numbers per account, given after the fact by one reader.

alter table events
  drop constraint events_type_check,
  add constraint events_type_check check (type in (
    'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired',
    -- What readers did, by pixel, link and List-Unsubscribe, and what their providers reported (ARF).
    'opened', 'clicked', 'unsubscribed', 'complained',
    -- A sending domain became active, or ceased to be. Has no message.
    'domain'));

-- What was committed since the sequencer last looked. Equal keys share an entry, so a batch of accepts costs little.
create index events_transaction on events (transaction);
-- The events of a page.
create index events_account on events (account_id, transaction);

-- How far each reader that goes by commit order has come: all events of transactions up to this one are dealt with.
create table event_cursors (
  name         text primary key,
  transaction  xid8 not null,
  moved_at     timestamptz not null default service_now(),
  -- Added to the transactions of this server: one restored from a dump counts from the beginning again, while its events carry
  -- the old one's numbers (core/events/restored.ts).
  transaction_offset  bigint not null default 0
);
insert into event_cursors (name, transaction) values ('numbers', '0');

-- The numbers of an account's events: those of this account and week whose transaction lies in (after_transaction,
-- to_transaction], ordered by (transaction, id), have first_number and the following ones. No event is ever deleted alone, so
-- the count stands; events of one week go together, and with them their pages, but never an account's last page: it knows
-- which number comes next.
create table event_pages (
  account_id         integer not null,
  first_number       bigint not null,
  count              integer not null,
  week               timestamptz not null,
  after_transaction  xid8 not null,
  to_transaction     xid8 not null,
  primary key (account_id, first_number)
) with (fillfactor = 70);

-- What an account has its mail made with, unless the message says otherwise, and how it is told and kept.
alter table accounts
  add column open_tracking     boolean not null default true,
  add column click_tracking    boolean not null default true,
  add column unsubscribe_link  boolean not null default false,
  -- Appended to its mail. Null: no footer.
  add column footer_html       text,
  add column footer_text       text,
  -- Opens, clicks and unsubscribes are counted without address and program of the reader.
  add column privacy_mode      boolean not null default false,
  -- Days of statistics begin at its midnight.
  add column time_zone         text not null default 'UTC',
  -- Days that events and bodies are kept. Null: as long as the operator keeps them.
  add column event_days        integer,
  add column body_days         integer;

-- Every transaction below this number that writes to this database has ended, and the next statement of the caller sees what it
-- wrote. The horizon of a snapshot would do too, but spans all databases of the server: a neighbour's hour-long transaction
-- would hold up every event.
create function event_horizon() returns bigint
language plpgsql volatile
as $$
declare
  -- Numbers below it were given, and told to all, before this moment.
  next_number bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  oldest bigint;
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
          select backend_xid::text::bigint as number from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and backend_xid is not null
          union all
          select transaction::text::bigint from pg_prepared_xacts where database = current_database()
        ) running
    ) behind
   -- The others began since.
   where distance < 2147483648;
  return coalesce(oldest, next_number);
end
$$;
