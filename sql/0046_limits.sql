-- Limits of a place beyond those of the providers' file: set by a back-off rule when a provider asked for less, by the adaptive limit, or by
-- the operator. Workers read all of them once per second, and at once after a notification. The strictest applies.
create table limit_overrides (
  id          bigint generated always as identity primary key,
  place       text not null,
  -- Null: the mail of all accounts.
  account_id  integer,
  setting     text not null check (setting in ('pause', 'rate', 'connections', 'messagesPerConnection')),
  -- The limit; with `seconds`, messages per so many seconds. Null for a pause.
  value       integer,
  seconds     integer,
  -- The id of the rule, 'adaptive' or 'operator'.
  rule        text not null,
  -- The reply that caused it, or the operator's reason.
  reason      text not null,
  since       timestamptz not null,
  until       timestamptz not null,
  -- During a long pause, when one delivery may be tried; for an adaptive limit, when it is raised.
  step_at     timestamptz,
  unique nulls not distinct (place, account_id, setting, rule)
);

-- How often each rule applied, by minute, over all workers. Without WAL: after a crash of the database counting begins again.
create unlogged table rule_hits (
  place       text not null,
  rule        text not null,
  -- 0: the mail of all accounts.
  account_id  integer not null,
  minute      timestamptz not null,
  hits        integer not null,
  primary key (place, rule, account_id, minute)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Replies of providers about a sending domain (authentication, policy): what its owner has to mend. One row per provider and code.
create table domain_findings (
  domain_id  integer not null references domains (id) on delete cascade,
  place      text not null,
  code       text not null,
  reply      text not null,
  count      integer not null,
  first_at   timestamptz not null,
  last_at    timestamptz not null,
  primary key (domain_id, place, code)
);
