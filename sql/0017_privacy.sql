-- Forgetting a person: what is asked, how far it has come, and what must outlast it: that he does not want mail.

-- Suppressed addresses of people who were forgotten: HMAC-SHA-256 of the address under a key of SECRET_KEY, one for each account.
create table forgotten (
  account_id  integer not null references accounts,
  hash        bytea not null,
  group_id    integer not null default 0,
  reason      text not null,
  since       timestamptz not null,
  held_until  timestamptz,
  primary key (account_id, hash, group_id)
);

-- Whose mail is held against `forgotten`: every process keeps this list and reads it anew every few seconds, so that nobody else
-- pays for a look-up.
create table forgotten_accounts (
  account_id  integer primary key references accounts,
  since       timestamptz not null default service_now()
);

create table forget_requests (
  id              uuid primary key,
  account_id      integer not null references accounts,
  emails          integer not null,
  state           text not null default 'queued' check (state in ('queued', 'running', 'done')),
  requested_at    timestamptz not null default service_now(),
  completed_at    timestamptz,
  -- The addresses, sealed (core/secrets.ts), as long as they are needed.
  sealed          bytea,
  -- How far it is (core/privacy/forget.ts). The worker at it holds the row's lock for one batch; what is kept here is all that the
  -- next one needs.
  stage           text not null default 'suppressions' check (stage in ('suppressions', 'queue', 'finished', 'waiting', 'last')),
  queue_message   uuid,
  queue_recipient integer,
  subject_no      integer not null default 0,
  receipt         jsonb not null default '{}',
  due_at          timestamptz not null default service_now(),
  -- An accept that was not committed yet when the request came belongs to it.
  transaction     xid8 not null default pg_current_xact_id(),
  check ((state = 'done') = (sealed is null))
);
create index forget_requests_due on forget_requests (due_at) where state <> 'done';

-- Messages to a person to be forgotten of which something still waits to be delivered.
create table forget_messages (
  request_id  uuid not null references forget_requests,
  subject_no  integer not null,
  message_id  uuid not null,
  -- Something of his own still waits, as far as is known.
  held        boolean not null default true,
  looked_at   timestamptz,
  primary key (request_id, subject_no, message_id)
);
create index forget_messages_round on forget_messages (request_id, looked_at nulls first);

-- All that went to one person. Of the address's hash, since an index of the addresses themselves would be as large as the table.
create index finished_deliveries_person on finished_deliveries (hashtextextended(recipient_key, account_id));
