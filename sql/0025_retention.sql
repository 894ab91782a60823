-- How far what is past its time has been cleared away.

-- Turns of the whole installation: one worker takes each.
create table retention_turns (
  name     text primary key,
  turn_at  timestamptz not null
);
insert into retention_turns (name, turn_at) values ('partitions', '-infinity'), ('accounts', '-infinity');

-- Accounts that keep events or bodies for less than the operator does: the bodies of mail accepted, and the pages of events, up
-- to these numbers are gone.
create table retention_cursors (
  account_id  integer primary key,
  bodies      bigint not null default 0,
  events      bigint not null default 0,
  due_at      timestamptz not null default service_now()
);
create index retention_cursors_due on retention_cursors (due_at);
