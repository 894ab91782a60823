-- Relay hosts that deliver what the usual way cannot: a provider has blocked the sources, half of a message's lifetime has passed, or the
-- allowances of new sources are used up.
create table smart_hosts (
  id           integer generated always as identity primary key,
  name         text not null unique,
  -- The URL with its user and password, sealed.
  url          bytea not null,
  -- Any of blocked, deadline, spill.
  used_for     text[] not null,
  -- The classes of mail it is used for; null: all.
  classes      smallint[],
  -- Messages per day (UTC); null: no limit.
  daily_cap    integer,
  created_at   timestamptz not null default service_now()
);
