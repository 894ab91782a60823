-- Outcomes of mail, and their consequences for its account.

-- Outcomes of mail in one hour, by account, domain, class, provider and source. Written with the rollups, so exact. Hours become days after
-- two weeks.
create table delivery_counts (
  account_id        integer not null,
  hour              timestamptz not null,
  -- 0: the message is no longer stored.
  domain_id         integer not null,
  class             smallint not null,
  -- Of providers.yaml. Empty for others, and before the destination is known.
  provider          text not null,
  -- Empty if the operating system chooses the address.
  source            text not null,
  accepted          integer not null,
  attempts          integer not null,
  delivered         integer not null,
  deferred          integer not null,
  hard              integer not null,
  soft              integer not null,
  -- Those of `hard` and `soft` that a filter or policy caused, and that were reported later.
  blocked           integer not null,
  late              integer not null,
  complained        integer not null,
  unsubscribed      integer not null,
  -- Those of `deferred` that were caused by a filter or policy.
  blocked_deferred  integer not null default 0,
  primary key (account_id, hour, domain_id, class, provider, source)
) with (
  -- New versions of the rows of this hour stay on their page, and so add no entries to the indexes.
  fillfactor = 50
);
create index delivery_counts_complained on delivery_counts (hour) where complained > 0;
create index delivery_counts_hour on delivery_counts (hour);
-- Hours that are not yet days.
create index delivery_counts_hourly on delivery_counts (hour) where extract(hour from (hour at time zone 'UTC')) <> 0;
-- Counts of one provider. Updates change no indexed column.
create index delivery_counts_provider on delivery_counts (provider, hour);

-- The sums of an account for each hour, which its reputation is evaluated by and its overview shows; for 30 days.
create table account_counts (
  account_id  integer not null,
  hour        timestamptz not null,
  accepted    integer not null,
  delivered   integer not null,
  hard        integer not null,
  soft        integer not null,
  complained  integer not null,
  deferred    integer not null default 0,
  primary key (account_id, hour)
) with (fillfactor = 50);
create index account_counts_hour on account_counts (hour);

-- The attempts of an account at each provider of providers.yaml, which its reputation is evaluated by; for two days.
create table provider_counts (
  account_id        integer not null,
  hour              timestamptz not null,
  provider          text not null,
  attempts          integer not null,
  blocked_deferred  integer not null,
  primary key (account_id, hour, provider)
);
create index provider_counts_hour on provider_counts (hour);

-- The rules of an account, and since when its counts matter: those before a release do not. `base` has the counts of the hour of the
-- release.
create table account_reputation (
  account_id  integer primary key references accounts on delete cascade,
  rules       text check (rules in ('none', 'standard', 'strict')),
  since       timestamptz,
  base        jsonb
);

-- An account whose reputation must be evaluated, because its counts changed. Unlogged: the next change adds it again.
create unlogged table reputation_due (
  account_id  integer primary key
);

-- Why mail of an account is slowed or held, or its owner was warned. Workers read those that are slowed or held each second.
create table account_holds (
  account_id  integer not null references accounts on delete cascade,
  -- The rule, or 'operator'.
  rule        text not null,
  level       text not null check (level in ('warned', 'slowed', 'held')),
  -- 0 urgent, 1 normal, 2 bulk. Empty for a warning.
  classes     smallint[] not null,
  -- Messages per hour, if it is slowed.
  rate        integer,
  figures     jsonb not null,
  reason      text,
  since       timestamptz not null,
  until       timestamptz,
  -- Since when the figures have been good.
  good_since  timestamptz,
  check_at    timestamptz not null,
  primary key (account_id, rule)
);
create index account_holds_check on account_holds (check_at);

-- A recipient, as a keyed hash, who got one message again and again, and whose mail waits.
create table recipient_holds (
  account_id  integer not null references accounts on delete cascade,
  recipient   bigint not null,
  since       timestamptz not null,
  until       timestamptz not null,
  primary key (account_id, recipient)
);

-- How often a recipient, as a keyed hash, got one message, or messages with one subject, in one minute, over all workers. Only recipients
-- to whom one worker has sent several. Unlogged: after a crash of the database, counting begins again.
create unlogged table recipient_repeats (
  account_id  integer not null,
  recipient   bigint not null,
  -- A hash of the subject, or of all that the recipient sees.
  message     bigint not null,
  is_subject  boolean not null,
  minute      timestamptz not null,
  messages    integer not null,
  primary key (account_id, recipient, message, is_subject, minute)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);
create index recipient_repeats_minute on recipient_repeats (minute);

-- A mail to the owner about account_holds, written in the transaction of the change: at most one per account, rule and day (UTC). Deleted
-- after a month.
create table account_notices (
  account_id  integer not null references accounts on delete cascade,
  rule        text not null,
  day         date not null,
  -- The level after the change, the classes that are slowed or held, and the figures.
  level       text not null,
  classes     text[] not null,
  figures     jsonb not null,
  created_at  timestamptz not null default service_now(),
  state       text not null default 'waiting' check (state in ('waiting', 'sent', 'off', 'no-address', 'failed')),
  -- When it is tried next; and the number of tries.
  due_at      timestamptz not null default service_now(),
  tries       smallint not null default 0,
  message_id  uuid,
  primary key (account_id, rule, day)
);
create index account_notices_created on account_notices (created_at);
create index account_notices_due on account_notices (due_at) where state = 'waiting';
