-- What was done and has ended: limits of a provider and holds of an account, which are shown in evidence for a provider. Of sites, whose owners make the
-- replies, nothing is kept. Deleted after 31 days.
create table past_limits (
  id          bigint generated always as identity primary key,
  -- Null for a hold of an account.
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

-- Figures that a provider publishes about a sending domain or an address, as the operator imported them.
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

-- Counts of one provider: rows are only ever added by their hour, and updates change no indexed column.
create index delivery_counts_provider on delivery_counts (provider, hour);

-- What large receivers demand of a sending domain beyond its own records: the DMARC record that applies to it, found by the tree walk of RFC 9989.
create table domain_guards (
  domain_id       integer primary key references domains (id) on delete cascade,
  -- {state, host, problem}: where the record was found.
  dmarc           jsonb not null,
  -- The domain that the mail of all its subdomains is counted for.
  organisational  text not null,
  checked_at      timestamptz not null,
  -- When a missing requirement was last logged.
  warned_at       timestamptz
);
