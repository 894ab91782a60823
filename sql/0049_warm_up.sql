-- The plan by which a new source gets more mail day by day (core/delivery/sources/warm-up.ts); null if it is not warmed up.
alter table sources add column warm_up_plan text;

-- How far the warm-up of a source at a provider is.
create table source_warm_ups (
  source_id    integer not null references sources (id) on delete cascade,
  -- '*': all sites that belong to none of the providers.
  provider     text not null,
  day          integer not null default 0,
  -- The day (UTC) on which this day of the plan began.
  began_on     date not null,
  -- The allowance is used up until then.
  spent_until  timestamptz,
  -- On which day (UTC) a back-off rule last paused the source there.
  blocked_on   date,
  primary key (source_id, provider)
);

-- Results of a source that is warmed up, by day (UTC).
create table source_results (
  source_id  integer not null references sources (id) on delete cascade,
  provider   text not null,
  day        date not null,
  tried      integer not null,
  -- Refused for now because of volume, policy or content.
  refused    integer not null,
  -- Addresses that do not exist.
  bounced    integer not null,
  primary key (source_id, provider, day)
);
