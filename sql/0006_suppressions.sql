-- Addresses that get no mail.

-- An address, domain or member of a group that gets no mail of an account, or with account 0 of any. An address is never equal to a domain,
-- so the address and its domain, of the account and global, are four keys of one lookup. A group number is in use without a row in
-- unsubscribe_groups, too.
create table suppressions (
  account_id          integer not null,
  scope               text not null check (scope in ('address', 'domain', 'group')),
  -- An address in canonical lower case, or a lower-case A-label.
  value               text not null,
  reason              text not null check (reason in ('unsubscribe', 'hardbounce', 'abuse', 'manual', 'global')),
  since               timestamptz not null default service_now(),
  -- The unsubscribe group of the account; only messages that name it are suppressed. 0 if the scope is not 'group'.
  group_id            integer not null default 0,
  -- When an automatic entry expires and is deleted. If null, never.
  held_until          timestamptz,
  -- The rule that made the entry: hard-bounce, soft-bounces, complaint, opt-out or unsubscribe. If null, a person added it.
  rule                text,
  -- The bounce class, or the type of the complaint.
  class               text,
  -- The delivery, whose event has the same time, and the report, if there was one (returns.id).
  message_id          uuid,
  recipient_no        integer,
  return_id           uuid,
  -- When the sender's entry was made that an unsubscribe replaced. It is restored when the recipient withdraws the unsubscribe.
  manual_since        timestamptz,
  -- Since when the recipient of a complaint had been unsubscribed. The unsubscribe is restored when the sender removes the complaint.
  unsubscribed_since  timestamptz,
  primary key (account_id, value, group_id),
  constraint suppressions_group_check check ((scope = 'group') = (group_id > 0))
);
-- The v3 lists, by an index-only scan: by reason, from a prefix, in a range of time. In the order of bytes, in which texts with one prefix
-- are adjacent.
create index suppressions_browse on suppressions (account_id, reason, group_id, value collate "C") include (since, held_until);
-- The members of a group, by an index-only scan.
create index suppressions_group on suppressions (account_id, group_id, value) include (since, held_until) where group_id > 0;
-- Cleanup of automatic entries.
create index suppressions_held_until on suppressions (held_until) where held_until is not null;
-- The lists of v2, by reason.
create index suppressions_reason on suppressions (account_id, reason, value, group_id);
-- Complaints of recipients who had unsubscribed, for v3's list of unsubscribes.
create index suppressions_unsubscribed on suppressions (account_id, group_id, value collate "C")
  include (unsubscribed_since, held_until) where unsubscribed_since is not null;

-- An address that an account removed from v3's list of blocks or invalid addresses. These lists are read from events, which stay: failures
-- until then are not listed.
create table cleared_failures (
  account_id  integer not null,
  -- block or invalid.
  kind        text not null,
  -- Empty for all addresses.
  address     text not null,
  until       timestamptz not null default service_now(),
  primary key (account_id, kind, address)
);
create index cleared_failures_until on cleared_failures (until);

-- A group of v3. Its number belongs to the account, so an imported one keeps the numbers that its programs use.
create table unsubscribe_groups (
  account_id   integer not null references accounts,
  id           integer not null check (id > 0),
  name         text not null,
  description  text not null,
  is_default   boolean not null default false,
  created_at   timestamptz not null default service_now(),
  -- A deleted group keeps its row, so that its number and its unsubscribes do not pass to another group.
  deleted_at   timestamptz,
  primary key (account_id, id)
);
create unique index unsubscribe_groups_default on unsubscribe_groups (account_id) where is_default and deleted_at is null;
create unique index unsubscribe_groups_name on unsubscribe_groups (account_id, lower(name)) where deleted_at is null;
