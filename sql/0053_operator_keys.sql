-- Keys of the operator's HTTP interface. They are not keys of an account, so that no rule of those can make one out of them: mail cannot be
-- sent with them, and api_keys does not lead here. The numbers of both are one sequence: a number in the audit log is one key.
create table operator_keys (
  id           integer primary key default nextval('api_keys_id_seq'),
  name         text not null default '',
  -- The first characters, for lists. Only the hash of the key is stored.
  prefix       text not null,
  hash         bytea not null unique,
  -- Networks it may be used from, in addition to OPERATOR_NETWORKS; empty: any of those.
  networks     cidr[] not null default '{}',
  created_at   timestamptz not null default service_now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);
