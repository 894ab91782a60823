-- Sending domains.

-- A sending domain, or a claim to one: several accounts can claim a name, and the one whose records are found in its DNS has it.
create table domains (
  id                integer generated always as identity primary key,
  account_id        integer not null references accounts,
  -- Lower-case A-label (RFC 5890), so each domain has one spelling.
  name              text not null,
  -- inactive: its records were correct, and have been incorrect for longer than DOMAIN_GRACE_HOURS.
  state             text not null default 'pending' check (state in ('pending', 'active', 'inactive', 'rejected')),
  -- The domain's own host for bounces, once its records are verified. If null, the service's.
  return_path_host  text,
  created_at        timestamptz not null default service_now(),
  -- Labels below the domain: the host of tracking and unsubscribe links.
  envelope_name     text,
  -- Whether subaccounts may send from it.
  shared            boolean not null default false,
  -- A deleted domain keeps its row and keys, because accepted mail is still signed. Its name can be added again.
  deleted_at        timestamptz,
  -- The last response for each record, by type and host.
  records           jsonb not null default '{}',
  checked_at        timestamptz,
  -- When the required records were last correct. If null, the operator activated it, and no lookup changes that.
  verified_at       timestamptz,
  broken_since      timestamptz,
  -- When the next lookup is due.
  check_at          timestamptz not null default service_now() + interval '1 hour',
  -- When the claim of a pending domain expires.
  claim_ends_at     timestamptz,
  -- When it could first send. If null, no message is signed for it, and its row can be deleted.
  activated_at      timestamptz
);
create unique index domains_account on domains (account_id, name) where deleted_at is null;
create index domains_claims on domains (account_id) where deleted_at is null and state = 'pending';
create index domains_due on domains (check_at) where deleted_at is null;
-- All selectors that a name has had in any account: a new key must not replace a record by which mail is still verified.
create index domains_every_name on domains (name);
create unique index domains_held on domains (name) where deleted_at is null and state <> 'pending';

-- A DKIM key of a domain.
create table dkim_keys (
  id           integer generated always as identity primary key,
  domain_id    integer not null references domains on delete cascade,
  selector     text not null,
  -- SubjectPublicKeyInfo, DER.
  public_key   bytea not null,
  -- PKCS #8 DER, encrypted by AES-256-GCM with a key derived from SECRET_KEY. Empty when the key no longer
  -- signs.
  private_key  bytea not null,
  -- next: signs once its record is found; retiring: no longer signs, but mail is still verified by it; retired: its record can be removed.
  state        text not null default 'active' check (state in ('next', 'active', 'retiring', 'retired')),
  created_at   timestamptz not null default service_now(),
  retire_at    timestamptz,
  unique (domain_id, selector)
);
-- At most one key signs, and at most one is next.
create unique index dkim_keys_current on dkim_keys (domain_id, state) where state in ('next', 'active');

-- Refusals of a provider because of a sending domain (authentication, policy), which its owner has to correct, by code.
create table domain_findings (
  domain_id  integer not null references domains on delete cascade,
  -- The destination that refused.
  place      text not null,
  code       text not null,
  reply      text not null,
  count      integer not null,
  first_at   timestamptz not null,
  last_at    timestamptz not null,
  primary key (domain_id, place, code)
);

-- Requirements of large receivers for a domain beyond its own records: the DMARC record that applies to it, found by the tree walk of RFC
-- 9989.
create table domain_guards (
  domain_id       integer primary key references domains on delete cascade,
  -- {state, host, problem}: where the record was found.
  dmarc           jsonb not null,
  -- The domain that the mail of all its subdomains counts for.
  organisational  text not null,
  checked_at      timestamptz not null,
  -- When a missing requirement was last logged.
  warned_at       timestamptz
);
