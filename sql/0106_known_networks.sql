-- expand
-- Networks from which a user has logged in. Their passwords have a turn apart from those of strangers, who could otherwise keep a user out.
create table known_networks (
  user_id integer not null references users on delete cascade,
  -- An IPv4 address, or the /64 of an IPv6 address.
  network cidr not null,
  -- The latest log-in from there. The network is forgotten after 90 days.
  seen_at timestamptz not null default service_now(),
  primary key (user_id, network)
);
create index known_networks_age on known_networks (seen_at);
