-- Whether a filter or policy of the receiver deferred the attempt, by its reply; greylisting is none. Null otherwise.
alter table attempts add column blocked boolean;

-- Of deferred: those.
alter table delivery_counts add column blocked_deferred integer not null default 0;

-- The sums of an account at each provider of providers.yaml, which its reputation is judged by: for two days.
create table provider_counts (
  account_id        integer not null,
  hour              timestamptz not null,
  provider          text not null,
  attempts          integer not null,
  blocked_deferred  integer not null,
  primary key (account_id, hour, provider)
);
create index provider_counts_hour on provider_counts (hour);
