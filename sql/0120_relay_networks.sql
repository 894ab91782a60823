-- expand
-- Networks whose clients send over SMTP without AUTH, each with the key as which they send. The operator lists them, since an
-- account cannot prove which addresses are its own. No two overlap, so that a client has one key.
create table relay_networks (
  network       cidr primary key,
  api_key_id    integer not null references api_keys (id) on delete cascade,
  -- Whether the client must use TLS.
  requires_tls  boolean not null,
  created_at    timestamptz not null default service_now(),
  constraint relay_networks_apart exclude using gist (network inet_ops with &&)
);
create index relay_networks_key on relay_networks (api_key_id);
