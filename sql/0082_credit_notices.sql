-- expand
-- The one-time credit that an account had after the last change by a person, and when that was: from these its owners are told that most of it
-- is used. Null before the first change.
alter table credit_balances add column granted bigint, add column granted_at timestamptz;

-- The latest such mail of an account, or that there was nobody to tell. A table of its own: accepts lock the rows of credit_balances.
create table credit_notices (
  account_id  integer primary key references accounts (id) on delete cascade,
  -- The refill whose use it is about: the change by a person, and the number of the period of the recurring credit; -1 without one.
  granted_at  timestamptz not null,
  period      integer not null,
  state       text not null default 'waiting' check (state in ('waiting', 'sent', 'off', 'no-owner', 'refilled', 'failed')),
  created_at  timestamptz not null default service_now(),
  -- When it is tried next; and the number of tries.
  due_at      timestamptz not null default service_now(),
  tries       smallint not null default 0
);
create index credit_notices_due on credit_notices (due_at) where state = 'waiting';
