-- What became of mail, by hour, sending domain, class, provider and source: written beside the rollups, so exact. Hours become days after two
-- weeks (core/reputation/fold.ts).
create table delivery_counts (
  account_id    integer not null,
  hour          timestamptz not null,
  -- 0: the message is no longer stored.
  domain_id     integer not null,
  class         smallint not null,
  -- Of providers.yaml; empty for all others, and before a place is known.
  provider      text not null,
  -- Empty if the operating system chooses the address.
  source        text not null,
  accepted      integer not null,
  attempts      integer not null,
  delivered     integer not null,
  deferred      integer not null,
  hard          integer not null,
  soft          integer not null,
  -- Of hard and soft: those that a filter or policy caused, and those reported later.
  blocked       integer not null,
  late          integer not null,
  complained    integer not null,
  unsubscribed  integer not null,
  primary key (account_id, hour, domain_id, class, provider, source)
);
create index delivery_counts_hour on delivery_counts (hour);
-- Hours that are not yet days.
create index delivery_counts_hourly on delivery_counts (hour) where extract(hour from hour at time zone 'UTC') <> 0;
create index delivery_counts_complained on delivery_counts (hour) where complained > 0;

-- The sums of an account, which its reputation is judged by: one row an hour, for 30 days.
create table account_counts (
  account_id  integer not null,
  hour        timestamptz not null,
  accepted    integer not null,
  delivered   integer not null,
  hard        integer not null,
  soft        integer not null,
  complained  integer not null,
  primary key (account_id, hour)
);
create index account_counts_hour on account_counts (hour);

-- Accounts whose counts changed so that their reputation may have. Without WAL: the next such change adds them again.
create unlogged table reputation_due (
  account_id  integer primary key
);

-- The rules of an account, and since when its counts matter: those before a release do not. `base` are the counts of the hour of that release.
create table account_reputation (
  account_id  integer primary key references accounts (id) on delete cascade,
  rules       text check (rules in ('none', 'standard', 'strict')),
  since       timestamptz,
  base        jsonb
);

-- Why mail of an account is slowed or held, or its owner was warned. Workers read those that are slowed or held once per second.
create table account_holds (
  account_id   integer not null references accounts (id) on delete cascade,
  -- The rule, or 'operator'.
  rule         text not null,
  level        text not null check (level in ('warned', 'slowed', 'held')),
  -- 0 urgent, 1 normal, 2 bulk; of a warning, none.
  classes      smallint[] not null,
  -- Messages per hour, if it is slowed.
  rate         integer,
  figures      jsonb not null,
  reason       text,
  since        timestamptz not null,
  until        timestamptz,
  -- Since when the figures have been good.
  good_since   timestamptz,
  check_at     timestamptz not null,
  primary key (account_id, rule)
);
create index account_holds_check on account_holds (check_at);

-- How often a recipient got one message, and messages with one subject, by minute, over all workers: only those to whom a worker has sent several.
-- The recipient is a keyed hash. Without WAL: after a crash of the database counting begins again.
create unlogged table recipient_repeats (
  account_id  integer not null,
  recipient   bigint not null,
  -- A hash of the subject, or of all that the recipient sees.
  message     bigint not null,
  is_subject  boolean not null,
  minute      timestamptz not null,
  messages    integer not null,
  primary key (account_id, recipient, message, is_subject, minute)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index recipient_repeats_minute on recipient_repeats (minute);

-- Recipients who got one message again and again: their mail waits until then.
create table recipient_holds (
  account_id  integer not null references accounts (id) on delete cascade,
  recipient   bigint not null,
  since       timestamptz not null,
  until       timestamptz not null,
  primary key (account_id, recipient)
);

-- The constraint is not checked for rows that exist: with 'account', it allows more than before.
alter table events
  drop constraint events_type_check,
  add constraint events_type_check check (type in (
    'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired',
    'opened', 'clicked', 'unsubscribed', 'complained',
    -- A sending domain became active, or ceased to be; mail of the account was slowed, held or released. They have no message.
    'domain', 'account')) not valid;
