-- How accounts get their events.

-- A webhook of an account.
create table webhooks (
  id             integer generated always as identity primary key,
  account_id     integer not null,
  url            text not null,
  -- Event types.
  events         text[] not null,
  format         text not null check (format in ('v2', 'v3')),
  -- Variants of the v2 format: values as text, complaints as "abuse", ids of events.
  as_text        boolean not null,
  abuse          boolean not null,
  event_ids      boolean not null,
  -- Encrypted: a JSON object of additional request headers, the HMAC secret and the previous one, the ECDSA key (PKCS #8).
  headers        bytea not null,
  secret         bytea not null,
  former_secret  bytea,
  former_until   timestamptz,
  signing_key    bytea not null,
  public_key     text not null,
  enabled        boolean not null,
  created_at     timestamptz not null default service_now(),
  -- Events up to this number are sent, in a batch, or not subscribed to.
  position       bigint not null,
  -- When a worker processes it next. If null, when there are more events.
  due_at         timestamptz,
  -- Nothing is sent before: the receiver requested that delay.
  held_until     timestamptz,
  -- Since when only single probes are sent, because it does not respond. If null, it responds.
  failing_since  timestamptz,
  succeeded_at   timestamptz,
  -- The latest failure, or why the service disabled it.
  problem        text,
  disabled_at    timestamptz,
  -- The time of the latest response: a slow receiver gets one request at a time.
  milliseconds   integer not null default 0,
  -- Numbers of requests, which are positions in webhook_deliveries.
  succeeded      bigint not null default 0,
  failed         bigint not null default 0,
  -- The account's name for it.
  label          text not null default '',
  -- Only events with one of these names in its format. If null, all.
  names          text[],
  -- Requests in the v3 format are signed as v3 does it.
  signed         boolean not null default true,
  changed_at     timestamptz
) with (fillfactor = 50);
create index webhooks_account on webhooks (account_id, id);
create index webhooks_due on webhooks (due_at) where enabled and due_at is not null;

-- A range of an account's sequence numbers that is being sent or is dead-lettered. It contains no events, and is deleted when the receiver
-- has it.
create table webhook_batches (
  id            uuid default gen_random_uuid() primary key,
  webhook_id    integer not null,
  account_id    integer not null,
  -- The events of these types with a number in (after_number, to_number].
  after_number  bigint not null,
  to_number     bigint not null,
  types         text[] not null,
  made_at       timestamptz not null default service_now(),
  -- waiting: for its slot, or claimed until leased_until; dead: given up, and sent again only on request.
  state         text not null default 'waiting' check (state in ('waiting', 'dead')),
  leased_until  timestamptz,
  lease         integer not null default 0,
  attempts      integer not null default 0,
  next_at       timestamptz not null default service_now(),
  failed_since  timestamptz,
  failed_at     timestamptz,
  -- It fails while others succeed, so it is retried separately.
  aside         boolean not null default false,
  problem       text
) with (fillfactor = 60);
create index webhook_batches_webhook on webhook_batches (webhook_id, state, next_at);

-- One of the latest requests of a webhook: a ring buffer of successes and one of failures, of fixed size.
create table webhook_deliveries (
  webhook_id    integer not null,
  -- The position in the ring buffer.
  place         integer not null,
  account_id    integer not null,
  batch_id      uuid not null,
  at            timestamptz not null,
  after_number  bigint not null,
  to_number     bigint not null,
  attempt       integer not null,
  -- If null, no response.
  status        integer,
  milliseconds  integer not null,
  problem       text,
  primary key (webhook_id, place)
);

-- An export of an account's events.
create table export_jobs (
  id              bigint generated always as identity primary key,
  account_id      integer not null,
  state           text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  format          text not null check (format in ('json', 'csv')),
  -- If empty, all.
  kinds           text[] not null default '{}',
  -- The requested days, and when they begin and end in the account's time zone.
  first_day       date not null,
  last_day        date not null,
  begins_at       timestamptz not null,
  ends_at         timestamptz not null,
  callback_url    text,
  email           text,
  -- The key and address that requested it.
  api_key_id      integer,
  client_address  inet,
  created_at      timestamptz not null default service_now(),
  finished_at     timestamptz,
  -- When it is deleted with its file.
  expires_at      timestamptz,
  -- All events up to this number are in the parts; the last part ends at last_number. If null, not begun.
  position        bigint,
  last_number     bigint,
  rows            bigint not null default 0,
  parts           integer not null default 0,
  octets          bigint not null default 0,
  due_at          timestamptz not null default service_now(),
  failures        integer not null default 0,
  -- Why it failed, for the account.
  problem         text,
  -- When the next notification is due, null if none; the number of attempts; whether the callback and the email are sent.
  tell_at         timestamptz,
  tellings        integer not null default 0,
  callback_told   boolean not null default false,
  email_told      boolean not null default false,
  -- The account's id of it, which cannot be guessed and does not show how many others there are.
  public_id       uuid not null default gen_random_uuid()
);
create index export_jobs_account on export_jobs (account_id, id);
create index export_jobs_due on export_jobs (due_at) where state in ('queued', 'running');
create index export_jobs_end on export_jobs (expires_at) where expires_at is not null;
create unique index export_jobs_public on export_jobs (public_id);
create index export_jobs_tell on export_jobs (tell_at) where tell_at is not null;

-- A part of an export's file. Each is compressed with gzip, and their concatenation is one file (RFC 1952 2.2).
create table export_parts (
  job_id   bigint not null references export_jobs on delete cascade,
  number   integer not null,
  content  bytea not null,
  primary key (job_id, number)
);

alter table export_parts alter column content set storage external;

-- A recipient of the account was erased, who may be in any file: finished exports are deleted, others begin again.
create function forget_export_files(of_account integer) returns void
language sql
as $$
  delete from export_jobs where account_id = of_account and state in ('done', 'failed');
  delete from export_parts where job_id in (select id from export_jobs where account_id = of_account);
  update export_jobs
     set position = null, last_number = null, rows = 0, parts = 0, octets = 0, due_at = service_now()
   where account_id = of_account;
$$;
