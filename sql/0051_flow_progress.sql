-- Deliveries of a flow that were tried at a place where it has parked mail, by ten seconds: how fast the rest is tried. Without WAL: after a crash of
-- the database counting begins again.
create unlogged table flow_progress (
  place       text not null,
  account_id  integer not null,
  class       smallint not null,
  since       timestamptz not null,
  tried       integer not null,
  primary key (place, account_id, class, since)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
