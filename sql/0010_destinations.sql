-- Where mail is sent to and from. A destination (the column `place`) is what limits apply to: a mailbox provider, or the hosts of a site.

-- A group of sources. Without a row, the operating system chooses the address that mail is sent from.
create table pools (
  id           integer generated always as identity primary key,
  name         text not null unique,
  -- The pool that sends if no source of this one can.
  fallback_id  integer references pools,
  -- Only rules choose it, and not messages.
  reserved     boolean not null default false,
  created_at   timestamptz not null default service_now()
);

-- An address that mail is sent from.
create table sources (
  id            integer generated always as identity primary key,
  name          text not null unique,
  pool_id       integer not null references pools,
  -- As receivers see it: an IPv4 or IPv6 address, and an IPv6 address in addition.
  address       inet not null unique,
  address6      inet unique,
  -- The local address, if it is translated (NAT); null if it is `address`.
  bind          inet,
  helo          text not null,
  weight        integer not null default 10 check (weight between 1 and 100),
  state         text not null default 'active' check (state in ('active', 'paused')),
  -- Why it is paused.
  reason        text,
  created_at    timestamptz not null default service_now(),
  -- The plan by which a new source gets more mail day by day. If null, it is not being warmed up.
  warm_up_plan  text,
  -- The operator, or the service because of a block list. If null, it is not paused.
  paused_by     text
);

-- A worker whose host has the address of a source.
create table source_workers (
  source_id  integer not null references sources on delete cascade,
  worker_id  integer not null references workers on delete cascade,
  primary key (source_id, worker_id)
);
create index source_workers_worker on source_workers (worker_id);

-- How far the warm-up of a source at a provider is.
create table source_warm_ups (
  source_id    integer not null references sources on delete cascade,
  -- '*' for all sites without a provider.
  provider     text not null,
  day          integer not null default 0,
  -- The day (UTC) on which this day of the plan began.
  began_on     date not null,
  -- Until then the day's quota is used up.
  spent_until  timestamptz,
  -- The last day (UTC) on which a back-off rule paused the source there.
  blocked_on   date,
  primary key (source_id, provider)
);

-- Results on one day (UTC) of a source that is being warmed up.
create table source_results (
  source_id  integer not null references sources on delete cascade,
  provider   text not null,
  day        date not null,
  tried      integer not null,
  -- Temporary failures because of volume, policy or content.
  refused    integer not null,
  -- Addresses that do not exist.
  bounced    integer not null,
  primary key (source_id, provider, day)
);

-- The DNS checks of a source: the last results, and when they are due.
create table source_checks (
  source_id    integer primary key references sources on delete cascade,
  records      jsonb not null default '[]',
  checked_at   timestamptz,
  check_at     timestamptz not null default service_now(),
  -- When the lookups in block lists are due.
  listings_at  timestamptz not null default service_now()
);

-- The last response of a block list for an address of a source.
create table source_listings (
  source_id   integer not null references sources on delete cascade,
  address     inet not null,
  -- The block list's public name, without a key.
  list        text not null,
  state       text not null check (state in ('clean', 'policy', 'listed', 'unknown')),
  codes       text[] not null,
  -- The source is paused while it is listed, if others of its pool can send.
  severe      boolean not null,
  -- The operator resumed the source in spite of it.
  overruled   boolean not null default false,
  problem     text,
  since       timestamptz not null,
  checked_at  timestamptz not null,
  primary key (source_id, address, list)
);

-- Which mail uses which pool: the first rule in the order of `position` whose conditions are all true.
create table pool_rules (
  id              integer generated always as identity primary key,
  position        integer not null,
  pool_id         integer not null references pools on delete cascade,
  account_id      integer references accounts,
  class           smallint,
  sending_domain  text,
  tag             text
);

-- A relay host for what the usual route cannot deliver: a provider has blocked the sources, half of a message's lifetime has passed, or new
-- sources have used their quota.
create table smart_hosts (
  id          integer generated always as identity primary key,
  name        text not null unique,
  -- The URL with user and password, encrypted.
  url         bytea not null,
  -- Any of blocked, deadline, spill.
  used_for    text[] not null,
  -- The classes of mail that it is used for. If null, all.
  classes     smallint[],
  -- Messages per day (UTC). If null, no limit.
  daily_cap   integer,
  created_at  timestamptz not null default service_now()
);

-- A connection that a worker has, or may open, to a destination: the limit is that of all workers together. Unlogged, because connections
-- do not survive a crash of the database either.
create unlogged table connection_slots (
  place      text not null,
  no         integer not null,
  worker_id  integer not null,
  primary key (place, no)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0
);

-- Since when connection_slots is complete. One row; a crash of the database empties both tables, and no slot is given for some seconds
-- after `since`, until workers have inserted the slots of their connections again.
create unlogged table connection_slots_since (
  only_row  boolean default true primary key check (only_row),
  since     timestamptz not null
);

insert into connection_slots_since (since) values ('-infinity');

-- Deliveries of a flow that were tried within ten seconds at a destination where others of it wait: the speed at which those are tried.
-- Unlogged: after a crash, counting begins again.
create unlogged table flow_progress (
  place       text not null,
  account_id  integer not null,
  class       smallint not null,
  since       timestamptz not null,
  tried       integer not null,
  primary key (place, account_id, class, since)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);

-- A limit of a destination in addition to those of the providers' file: set by a back-off rule, by the adaptive limit, or by the operator.
-- Workers read all of them each second, and immediately after a notification. The strictest applies.
create table limit_overrides (
  id          bigint generated always as identity primary key,
  place       text not null,
  -- If null, the mail of all accounts.
  account_id  integer,
  setting     text not null check (setting in ('pause', 'rate', 'connections', 'messagesPerConnection')),
  -- With `seconds`, messages within that time. Null for a pause.
  value       integer,
  seconds     integer,
  -- The id of the rule, 'adaptive' or 'operator'.
  rule        text not null,
  -- The reply that caused it, or the operator's reason.
  reason      text not null,
  since       timestamptz not null,
  until       timestamptz not null,
  -- When one delivery may be tried during a long pause, or when an adaptive limit is raised.
  step_at     timestamptz,
  unique nulls not distinct (place, account_id, setting, rule)
);

-- How often a back-off rule applied in one minute, over all workers. Unlogged, as flow_progress.
create unlogged table rule_hits (
  place       text not null,
  rule        text not null,
  -- 0: the mail of all accounts.
  account_id  integer not null,
  minute      timestamptz not null,
  hits        integer not null,
  primary key (place, rule, account_id, minute)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);

-- A limit of a provider or a hold of an account that has ended, as evidence for the provider; for 31 days. Not of sites, whose owners write
-- the replies.
create table past_limits (
  id          bigint generated always as identity primary key,
  -- If null, a hold of an account.
  place       text,
  account_id  integer,
  -- As in limit_overrides; of a hold its level.
  setting     text not null,
  value       integer,
  seconds     integer,
  rule        text not null,
  since       timestamptz not null,
  until       timestamptz not null
);
create index past_limits_until on past_limits (until);

-- A demand of the operator or of an account on TLS connections to recipients' servers. 'dane' demands a certificate that matches the TLSA
-- records of the host (RFC 7672).
create table tls_rules (
  id          integer generated always as identity primary key,
  -- If null, the mail of all accounts.
  account_id  integer,
  -- The recipient's domain. If null, all.
  domain      text,
  level       text not null check (level in ('required', 'verified', 'dane')),
  created_at  timestamptz not null default service_now(),
  constraint tls_rules_target unique nulls not distinct (account_id, domain)
);

-- The MTA-STS policy of a recipient's domain (RFC 8461), as last fetched, for all workers.
create table mta_sts_policies (
  domain      text primary key,
  -- The id in the TXT record when the policy was fetched; null if none was ever fetched.
  policy_id   text,
  mode        text not null check (mode in ('none', 'testing', 'enforce')),
  mx          text[] not null default '{}',
  max_age     integer not null default 0,
  fetched_at  timestamptz,
  -- Until then it applies, whatever the DNS says.
  expires_at  timestamptz,
  used_at     timestamptz not null,
  -- Why the last fetch failed, how many have failed in a row, and when the next one is due.
  error       text,
  failures    integer not null default 0,
  retry_at    timestamptz
);
create index mta_sts_policies_unused on mta_sts_policies (used_at);

-- A figure that a provider publishes about a sending domain or an address, as the operator imported it.
create table provider_figures (
  provider     text not null,
  -- A domain or an IP address.
  subject      text not null,
  day          date not null,
  name         text not null,
  value        text not null,
  imported_at  timestamptz not null default service_now(),
  primary key (provider, subject, day, name)
);
create index provider_figures_day on provider_figures (day);
