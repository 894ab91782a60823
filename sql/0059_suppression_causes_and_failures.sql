-- What made an entry: null if an account or the operator added it, and for entries that exist already. The columns have no default, so no row is
-- rewritten.
alter table suppressions
  -- hard-bounce, soft-bounces, complaint, opt-out or unsubscribe (core/suppressions/suppression.ts).
  add column rule text,
  -- The bounce class, or the type of the complaint.
  add column class text,
  -- The delivery, whose event has the same time; and the report, if it came by one (returns.id).
  add column message_id uuid,
  add column recipient_no integer,
  add column return_id uuid;

-- What an account removed from v3's lists of blocks and invalid addresses: these are read from events, which stay. Failures until then are not
-- listed any more.
create table cleared_failures (
  account_id integer not null,
  -- block or invalid (core/reporting/failures).
  kind text not null,
  -- Empty for all addresses.
  address text not null,
  until timestamptz not null default service_now(),
  primary key (account_id, kind, address)
);
create index cleared_failures_until on cleared_failures (until);
