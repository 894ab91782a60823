-- A place is what limits of connections and rates apply to: a mailbox provider, or the hosts of a site. Mail that its place has no capacity
-- for waits there ("parked"), and is claimed by place when there is some: `waiting_for` says what it waits for. Its next_at is only when
-- it is looked at again in any case. This replaces the claim by recipient domain and its index.
alter table delivery_queue add column place text, add column waiting_for text;
create index delivery_queue_parked on delivery_queue (place, class, account_id, next_at)
  where worker_id is null and place is not null;
drop index delivery_queue_domain_flow;

-- One row per connection that workers may have open to a place: the limit holds for all of them together. Without WAL, since connections
-- do not survive a crash either; see the next table.
create unlogged table connection_slots (
  place      text not null,
  no         integer not null,
  worker_id  integer not null,
  primary key (place, no)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- One row; a crash of the database empties both tables. Until the workers that still have connections have inserted their slots again, no
-- slot is given: for some seconds after `since` (core/delivery/connection-slots.ts).
create unlogged table connection_slots_since (
  only_row  boolean primary key default true check (only_row),
  since     timestamptz not null
);
insert into connection_slots_since (since) values ('-infinity');
