-- Source addresses that mail is sent from, in pools. Without a row here, the operating system chooses the address.
create table pools (
  id           integer generated always as identity primary key,
  name         text not null unique,
  -- The pool that sends if no source of this one can.
  fallback_id  integer references pools (id),
  -- Only rules choose it, not the messages themselves.
  reserved     boolean not null default false,
  created_at   timestamptz not null default service_now()
);
create table sources (
  id          integer generated always as identity primary key,
  name        text not null unique,
  pool_id     integer not null references pools (id),
  -- What receivers see: an IPv4 or IPv6 address, and an IPv6 address in addition.
  address     inet not null unique,
  address6    inet unique,
  -- The local address of a host whose address is translated (NAT); null if it is `address`.
  bind        inet,
  helo        text not null,
  weight      integer not null default 10 check (weight between 1 and 100),
  state       text not null default 'active' check (state in ('active', 'paused')),
  -- Why it is paused.
  reason      text,
  created_at  timestamptz not null default service_now()
);
-- Which mail uses which pool: the first rule whose conditions are all met, in the order of `position`.
create table pool_rules (
  id              integer generated always as identity primary key,
  position        integer not null,
  pool_id         integer not null references pools (id) on delete cascade,
  account_id      integer references accounts (id),
  class           smallint,
  sending_domain  text,
  tag             text
);
-- The sources that a worker can use: its host has the address.
create table source_workers (
  source_id  integer not null references sources (id) on delete cascade,
  worker_id  integer not null references workers (id) on delete cascade,
  primary key (source_id, worker_id)
);
create index source_workers_worker on source_workers (worker_id);

-- The pool that the operator has chosen for this delivery (queue reroute).
alter table delivery_queue add column pool_id integer;
-- Where it was offered: the provider or site, and the source ("google@mta-1").
alter table attempts add column place text;
