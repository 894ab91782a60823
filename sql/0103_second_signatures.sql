-- expand
-- Whether mail of the domain is signed with Ed25519, too (RFC 8463). It then has a next or an active key in dkim_ed25519_keys.
alter table domains add column ed25519 boolean not null default false;

-- An Ed25519 key of a domain, which signs in addition to its RSA key while its record is right. Not in dkim_keys, where programs before this
-- version would take it for the RSA key: they sign with that alone.
create table dkim_ed25519_keys (
  id           integer generated always as identity primary key,
  domain_id    integer not null references domains on delete cascade,
  -- Not one of the domain's selectors in dkim_keys.
  selector     text not null,
  -- As published: 32 octets (RFC 8032 5.1.5).
  public_key   bytea not null,
  -- As in dkim_keys.
  private_key  bytea not null,
  -- As in dkim_keys.
  state        text not null default 'next' check (state in ('next', 'active', 'retiring', 'retired')),
  created_at   timestamptz not null default service_now(),
  retire_at    timestamptz,
  unique (domain_id, selector)
);
create unique index dkim_ed25519_keys_current on dkim_ed25519_keys (domain_id, state) where state in ('next', 'active');
