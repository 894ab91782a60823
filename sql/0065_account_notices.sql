-- The owner of an account is told by mail when its mail is slowed or held, or its figures are a reason for a warning.
alter table accounts add column account_notices boolean not null default true;

-- Such a mail, written in the transaction of the change: at most one per account, rule and day (UTC). Deleted after a month.
create table account_notices (
  account_id  integer not null references accounts (id) on delete cascade,
  rule        text not null,
  day         date not null,
  -- The level after the change, the classes that are slowed or held, and the figures.
  level       text not null,
  classes     text[] not null,
  figures     jsonb not null,
  created_at  timestamptz not null default service_now(),
  state       text not null default 'waiting' check (state in ('waiting', 'sent', 'off', 'no-address', 'failed')),
  -- When it is tried next; and the number of tries.
  due_at      timestamptz not null default service_now(),
  tries       smallint not null default 0,
  -- The message to the owner.
  message_id  uuid,
  primary key (account_id, rule, day)
);
create index account_notices_due on account_notices (due_at) where state = 'waiting';
create index account_notices_created on account_notices (created_at);
