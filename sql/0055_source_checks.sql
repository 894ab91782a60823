-- What the DNS and block lists say of the source addresses.
-- Who paused a source: the operator, or the service because a block list has it; null if it is not paused.
alter table sources add column paused_by text;

create table source_checks (
  source_id     integer primary key references sources (id) on delete cascade,
  -- The last results, and when they are due again.
  records       jsonb not null default '[]',
  checked_at    timestamptz,
  check_at      timestamptz not null default service_now(),
  -- When block lists are due.
  listings_at   timestamptz not null default service_now()
);
create table source_listings (
  source_id   integer not null references sources (id) on delete cascade,
  address     inet not null,
  -- Public name of the block list, without a key.
  list        text not null,
  state       text not null check (state in ('clean', 'policy', 'listed', 'unknown')),
  codes       text[] not null,
  -- The listing pauses the source if others of its pool can send.
  severe      boolean not null,
  -- The operator has resumed the source in spite of this listing.
  overruled   boolean not null default false,
  problem     text,
  since       timestamptz not null,
  checked_at  timestamptz not null,
  primary key (source_id, address, list)
);
