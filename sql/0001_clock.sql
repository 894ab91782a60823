-- The service's clock and the small helpers every later migration stands on.

-- One clock for every process: due times, expiry and event times come from the database, never from a host, so hosts whose
-- clocks differ agree on what is due. Inlined by the planner, so it costs what now() costs.
-- Tests replace this function to move time; nothing else may.
create function service_now() returns timestamptz
language sql stable
as 'select now()';

-- The smallest UUIDv7 (RFC 9562 5.7) of a moment: message ids carry their time, so the tables keyed by a message id are
-- partitioned by time through it and a look-up by id touches one partition.
create function uuidv7_floor(moment timestamptz) returns uuid
language sql immutable
as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- What this installation is: one row a fact (for instance the fingerprint of SECRET_KEY, so that a host with another key is
-- refused instead of failing to read DKIM keys later).
create table instance (
  name  text primary key,
  value text not null
);
