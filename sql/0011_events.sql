-- Events, and the opens and clicks that become events.

create sequence event_numbers cache 32;

-- An event, written in the transaction of the fact and never changed. Partitioned by week.
create table events (
  id            bigint not null default nextval('event_numbers'),
  occurred_at   timestamptz not null,
  account_id    integer not null,
  type          text not null,
  message_id    uuid,
  recipient_no  integer,
  detail        jsonb,
  -- Ids are given before the commit, so a lower id can become visible later. Readers use only rows of transactions that are older than all
  -- open ones (event_horizon).
  transaction   xid8 not null default pg_current_xact_id()
) partition by range (occurred_at);
-- The events of a page.
create index events_account on events (account_id, transaction);
-- The event log's filters of hard and soft bounces. The classes are those of HARD_BOUNCES.
create index events_hard_bounces on events (account_id, message_id, recipient_no, occurred_at)
  where type = 'bounced' and ((detail ->> 'class') in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting'))
    and not coalesce(detail ? 'machine', false);
-- The events of one message.
create index events_message on events (message_id);
-- The event log's filter by type, except what machines opened or clicked. Delivered mail that is not opened has no entry.
create index events_notable on events (account_id, type, message_id, recipient_no, occurred_at)
  where (type in ('bounced', 'expired', 'dropped', 'invalid', 'opened', 'clicked', 'unsubscribed', 'complained'))
    and not coalesce(detail ? 'machine', false);
create index events_soft_bounces on events (account_id, message_id, recipient_no, occurred_at)
  where (type = 'expired' or type = 'bounced' and (coalesce(detail ->> 'class', '') not in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting')))
    and not coalesce(detail ? 'machine', false);
-- Events committed since the sequencer last read. Equal keys share an entry, so a batch of accepts costs little.
create index events_transaction on events (transaction);

-- Not valid, as in databases from before the baseline: rows that exist are not checked when a type is added. Events of the domain and of
-- the account have no message.
alter table events add constraint events_type_check check (type in (
  'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired', 'opened', 'clicked', 'unsubscribed', 'resubscribed',
  'complained', 'domain', 'account')) not valid;

-- The position of a reader in commit order: it has processed the events of all transactions up to this one.
create table event_cursors (
  name                text primary key,
  transaction         xid8 not null,
  moved_at            timestamptz not null default service_now(),
  -- Added to this server's transaction numbers: a server restored from a dump counts from the beginning again, while its events have the
  -- numbers of the old one.
  transaction_offset  bigint not null default 0
);

insert into event_cursors (name, transaction) values ('numbers', '0');

-- A range of sequence numbers. The events of an account and week with a transaction in (after_transaction, to_transaction], in the order of
-- (transaction, id), have first_number and the following ones. Events of a week are dropped together, and with them their pages, except the
-- last one of an account, which has its next number.
create table event_pages (
  account_id         integer not null,
  first_number       bigint not null,
  count              integer not null,
  week               timestamptz not null,
  after_transaction  xid8 not null,
  to_transaction     xid8 not null,
  -- When the first `timed` events happened, so that an export of one day skips the week's other pages. Versions without these columns may
  -- have added others; such a page is read.
  earliest           timestamptz,
  latest             timestamptz,
  timed              integer,
  primary key (account_id, first_number)
) with (fillfactor = 70);

-- A restore to an earlier moment. Events after it are lost, and their numbers are given to others. The first epoch has no row.
create table event_epochs (
  number       integer primary key check (number > 1),
  began_at     timestamptz not null default service_now(),
  -- Null if unknown.
  restored_to  timestamptz
);

-- The last number of an account that means the same event as before the restore. An account without a row had no events.
create table event_epoch_starts (
  account_id   integer not null references accounts on delete cascade,
  epoch        integer not null references event_epochs,
  last_number  bigint not null,
  primary key (account_id, epoch)
);

-- All transactions below this number that write to this database have ended, and the caller's next statement sees what they wrote. The
-- horizon of a snapshot spans all databases of the server: a long transaction in another one would delay all events.
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

-- A request of a pixel or link. It becomes an event some seconds later, when machines can be recognised by the outcome of the delivery and
-- by the other requests of that moment.
create table hits (
  -- Made by the process that received it, so one that is written twice counts once.
  id            uuid primary key,
  at            timestamptz not null,
  account_id    integer not null,
  message_id    uuid not null,
  recipient_no  integer not null,
  kind          text not null check (kind in ('opened', 'clicked')),
  -- The number and target of a clicked link.
  link          integer,
  url           text,
  -- Null in privacy mode.
  ip            text,
  user_agent    text,
  -- The rule by which it is a machine's, and the version of the rules.
  machine       text,
  rules         smallint not null
) with (
  -- As delivery_queue: rows live for seconds.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
-- Those that are due, oldest first.
create index hits_at on hits (at);
-- The other requests of the same delivery.
create index hits_delivery on hits (message_id, recipient_no);

-- Opens or clicks of a delivery, by humans or machines, as counts. The row is inserted at the first one; the count of the hour limits the
-- events of a client that repeats its request.
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
