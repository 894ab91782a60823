-- Accounts, their keys and limits, and the log of changes.

-- An account, or a subaccount (parent_id), with its settings. A deleted one keeps its row; its name can be used again.
create table accounts (
  id                integer generated always as identity primary key,
  -- For a subaccount, its parent's name, a slash and `username`.
  name              text not null check (name <> ''),
  state             text not null default 'active' check (state in ('active', 'suspended', 'deleted')),
  expires_at        timestamptz,
  created_at        timestamptz not null default service_now(),
  parent_id         integer references accounts,
  -- The name among the subaccounts of its parent.
  username          text,
  email             text,
  -- For the dashboard: scrypt, with salt and parameters.
  password          text,
  deleted_at        timestamptz,
  -- Messages that are accepted, through all entry points. If null, no limit.
  sends_per_minute  integer check (sends_per_minute > 0),
  -- HTTP calls other than those that send. If null, the default of the installation.
  calls_per_minute  integer check (calls_per_minute > 0),
  -- How messages are composed, unless a message says otherwise.
  open_tracking     boolean not null default true,
  click_tracking    boolean not null default true,
  unsubscribe_link  boolean not null default false,
  -- If null, no footer.
  footer_html       text,
  footer_text       text,
  -- Opens, clicks and unsubscribes are stored without the recipient's address and user agent.
  privacy_mode      boolean not null default false,
  -- Days of statistics begin at its midnight.
  time_zone         text not null default 'UTC',
  -- Retention in days. If null, the operator's.
  event_days        integer,
  body_days         integer,
  -- The default class: urgent, normal or bulk. If null, normal.
  mail_class        text,
  -- The verified address of the user who made the account by sign-up. Until the account has an active domain, it may send a few test
  -- messages to this address, and no other mail. Null for other accounts.
  trial_address     text,
  -- Whether the owner is notified when mail is slowed or held, or when figures are a reason for a warning.
  account_notices   boolean not null default true,
  -- When the event feed was first read: the dashboard's first steps end with it, or with a webhook.
  feed_read_at      timestamptz,
  constraint accounts_subaccount check ((parent_id is null) = (username is null)),
  constraint accounts_time_zone check (is_time_zone(time_zone))
);
create unique index accounts_name on accounts (lower(name)) where deleted_at is null;
create unique index accounts_username on accounts (parent_id, lower(username)) where deleted_at is null;

-- A key of an account.
create table api_keys (
  id                   integer generated always as identity primary key,
  account_id           integer not null references accounts,
  name                 text not null default '',
  -- The first characters, by which people recognise keys in a list. The key itself is not stored.
  prefix               text not null,
  -- SHA-256. A key has 160 random bits, so a slow hash would not protect it better.
  hash                 bytea not null,
  scopes               text[] not null default '{all}',
  -- Networks that it may be used from. If empty, all.
  networks             cidr[] not null default '{}',
  created_at           timestamptz not null default service_now(),
  revoked_at           timestamptz,
  -- Restrictions. If null, none beyond those of the scopes and the account.
  templates            integer[] check (cardinality(templates) > 0),
  sender_domains       text[] check (cardinality(sender_domains) > 0),
  recipient_domains    text[] check (cardinality(recipient_domains) > 0),
  recipients_per_hour  integer check (recipients_per_hour > 0),
  calls_per_minute     integer check (calls_per_minute > 0),
  -- From then on it is refused: the owner's date, or the end of the grace period after a rotation.
  expires_at           timestamptz,
  -- The key whose quota it shares: a restricted key cannot multiply its quota by making others.
  counts_with          integer,
  -- After a rotation: its successor.
  replaced_by          integer,
  -- To the minute; written after the response.
  last_used_at         timestamptz,
  -- v3's permissions. If null, all that the scopes allow there.
  v3_rights            text[],
  -- The class of all mail that is sent with the key. If null, not restricted.
  mail_class           text
);
create index api_keys_account on api_keys (account_id);
create unique index api_keys_hash on api_keys (hash);

-- A key of the operator's HTTP interface. It is not in api_keys, so no rule for keys of accounts can create one, and it cannot send mail.
-- Both share a sequence, so a number in the audit log is one key.
create table operator_keys (
  id            integer default nextval('api_keys_id_seq') primary key,
  name          text not null default '',
  -- The first characters, for lists. Only the hash of the key is stored.
  prefix        text not null,
  hash          bytea not null unique,
  -- Networks that it may be used from, in addition to OPERATOR_NETWORKS. If empty, only those.
  networks      cidr[] not null default '{}',
  created_at    timestamptz not null default service_now(),
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz
);

-- The use of a rate limit in one window of time, by all processes. A process reserves several uses at a time.
create table allowances (
  -- Such as 'calls 12' of account 12, or 'key 3'.
  name       text not null,
  starts_at  timestamptz not null,
  taken      integer not null,
  -- The number that the last statement reserved, which reads it back.
  granted    integer not null,
  primary key (name, starts_at)
) with (
  -- Room on each page for new versions of busy rows.
  fillfactor = 50
);
-- Updates change no indexed column, so the new version of a busy row stays on its page.
create index allowances_age on allowances (starts_at);

-- Changes of an account's objects: append only, and chained, each entry to the previous one of its account by its hash.
create table audit_log (
  account_id     integer not null,
  -- Without gaps, in commit order, so a missing entry is noticed.
  number         bigint not null,
  at             timestamptz not null,
  -- Null with actor_user_id null: the operator, at the command line.
  actor_key_id   integer,
  actor_address  inet,
  -- Such as 'template.edit', of 'template 12'.
  action         text not null,
  object         text not null,
  -- The change. Never a secret, a body, or the address of a recipient, which is replaced by a keyed hash.
  before         jsonb,
  after          jsonb,
  previous_hash  bytea not null,
  hash           bytea not null,
  actor_user_id  integer,
  -- Entries of version 2 have the user in their hash.
  version        smallint not null default 1,
  primary key (account_id, number)
);

create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- SHA-256 of the previous entry's hash and of all fields of this one. Equal jsonb values have one text and the time is in microseconds, so
-- the hash is the same in each session.
create function audit_hash(entry audit_log) returns bytea
language sql immutable
as $$
  select case entry.version
    when 1 then sha256(entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after)::text, 'UTF8'))
    else sha256('\x02'::bytea || entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after, entry.actor_user_id)::text, 'UTF8'))
    end
$$;

-- Adds an entry, in the transaction of the change. The entries of an account are written one at a time, since a chain has one end. Such
-- changes are rare.
create function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb, user_id integer
) returns void
language plpgsql
as $$
declare
  entry audit_log;
  last audit_log;
begin
  perform pg_advisory_xact_lock(7742, of_account);
  select * into last from audit_log where account_id = of_account order by number desc limit 1;
  entry.account_id := of_account;
  entry.number := coalesce(last.number, 0) + 1;
  entry.at := service_now();
  entry.actor_key_id := key_id;
  entry.actor_address := address;
  entry.actor_user_id := user_id;
  entry.version := 2;
  entry.action := what;
  entry.object := which;
  entry.before := was;
  entry.after := became;
  entry.previous_hash := coalesce(last.hash, '');
  entry.hash := audit_hash(entry);
  insert into audit_log select entry.*;
end
$$;

-- The same for a change that no user of the dashboard made.
create function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb
) returns void
language sql
as $$
  select audit_note(of_account, key_id, address, what, which, was, became, null)
$$;
