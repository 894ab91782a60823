-- Who sends: accounts and their API keys.

create table accounts (
  id          integer generated always as identity primary key,
  name        text not null check (name <> ''),
  state       text not null default 'active' check (state in ('active', 'suspended')),
  expires_at  timestamptz,
  created_at  timestamptz not null default service_now()
);
-- AUTH may name the account, whatever the case.
create unique index accounts_name on accounts (lower(name));

create table api_keys (
  id          integer generated always as identity primary key,
  account_id  integer not null references accounts,
  name        text not null default '',
  -- The first characters, so that a person can tell keys apart in a list. The key itself is not stored.
  prefix      text not null,
  -- SHA-256 of the key. A key has 160 random bits, so a slow hash would protect nothing more.
  hash        bytea not null,
  scopes      text[] not null default '{all}',
  -- Empty: from anywhere.
  networks    cidr[] not null default '{}',
  created_at  timestamptz not null default service_now(),
  revoked_at  timestamptz
);
create unique index api_keys_hash on api_keys (hash);
create index api_keys_account on api_keys (account_id);
