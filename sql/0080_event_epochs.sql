-- expand
-- A restore to an earlier moment. Events after it are lost, and their numbers are given to other events; the first epoch has no row.
create table event_epochs (
  number integer primary key check (number > 1),
  began_at timestamptz not null default service_now(),
  -- The moment of the state that was restored; null if unknown.
  restored_to timestamptz
);

-- The last number of an account that means the same event as before the restore. An account without a row had no events.
create table event_epoch_starts (
  account_id integer not null references accounts (id) on delete cascade,
  epoch integer not null references event_epochs (number),
  last_number bigint not null,
  primary key (account_id, epoch)
);
