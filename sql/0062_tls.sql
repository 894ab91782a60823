-- What the operator and accounts demand of the TLS connections to recipients' servers.
create table tls_rules (
  id         integer generated always as identity primary key,
  -- Null: the mail of all accounts.
  account_id integer,
  -- The recipient's domain. Null: all domains.
  domain     text,
  level      text not null check (level in ('required', 'verified')),
  created_at timestamptz not null default service_now(),
  constraint tls_rules_target unique nulls not distinct (account_id, domain)
);

-- The MTA-STS policies of recipients' domains (RFC 8461), as last fetched, for all workers.
create table mta_sts_policies (
  domain     text primary key,
  -- The id in the TXT record when the policy was fetched; null if none was ever fetched.
  policy_id  text,
  mode       text not null check (mode in ('none', 'testing', 'enforce')),
  mx         text[] not null default '{}',
  max_age    integer not null default 0,
  fetched_at timestamptz,
  -- Until then the policy is in effect, whatever the DNS says.
  expires_at timestamptz,
  used_at    timestamptz not null,
  -- Why the last fetch failed, how many failed in a row, and when the next one is due.
  error      text,
  failures   integer not null default 0,
  retry_at   timestamptz
);
create index mta_sts_policies_unused on mta_sts_policies (used_at);

-- What was demanded of the connection of an attempt; null if TLS was to be used where it is offered.
alter table attempts add column tls_policy text;
-- Whether the certificate was valid for the host; null without TLS.
alter table attempts add column tls_verified boolean;
