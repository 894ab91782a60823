-- Sending domains and the DKIM keys that sign for them.

create table domains (
  id                integer generated always as identity primary key,
  account_id        integer not null references accounts,
  -- Lower-case A-label (RFC 5890), so that one domain has one spelling.
  name              text not null,
  state             text not null default 'pending' check (state in ('pending', 'active', 'rejected')),
  -- The account's own host for bounces, once its records are verified; until then the service's.
  return_path_host  text,
  created_at        timestamptz not null default service_now()
);
create unique index domains_name on domains (name);
create index domains_account on domains (account_id);

create table dkim_keys (
  id           integer generated always as identity primary key,
  domain_id    integer not null references domains on delete cascade,
  selector     text not null,
  -- SubjectPublicKeyInfo, DER.
  public_key   bytea not null,
  -- PKCS #8 DER, AES-256-GCM under a key derived from SECRET_KEY: version, nonce, tag, text (core/secrets.ts).
  private_key  bytea not null,
  state        text not null default 'active' check (state in ('active', 'retired')),
  created_at   timestamptz not null default service_now(),
  unique (domain_id, selector)
);
