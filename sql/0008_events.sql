-- Everything that happened, written with the fact itself and never changed. Partitioned by week.

create sequence event_numbers cache 32;

create table events (
  id            bigint not null default nextval('event_numbers'),
  occurred_at   timestamptz not null,
  account_id    integer not null,
  type          text not null check (type in ('processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired')),
  message_id    uuid,
  recipient_no  integer,
  detail        jsonb,
  -- Numbers are given before commit, so a later id can become visible first. A reader keeps to rows whose transaction is
  -- older than every open one: transaction < pg_snapshot_xmin(pg_current_snapshot()).
  transaction   xid8 not null default pg_current_xact_id()
) partition by range (occurred_at);
-- The story of one message, in `postrider message show`.
create index events_message on events (message_id);
