-- Functions and the table that all other files use.

-- The clock of all processes: due times, expiry and event times come from the database, so hosts whose clocks differ agree. The planner
-- inlines it, so it costs as much as now(). Only tests replace it.
create function service_now() returns timestamptz
language sql stable
as 'select now()';

-- The smallest UUIDv7 (RFC 9562 5.7) of a moment. Tables keyed by message id are partitioned by it, so a lookup by id touches one
-- partition.
create function uuidv7_floor(moment timestamptz) returns uuid
language sql immutable
as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- Facts about this installation, such as the fingerprint of SECRET_KEY: a host with another key is refused at its start, instead of failing
-- to read DKIM keys later.
create table instance (
  name   text primary key,
  value  text not null
);

-- The moment to which the server was last restored and its queue held. If the server's settings name another one, it was restored since.
insert into instance (name, value)
select 'recovery target',
       array_to_string(array(select name || ' = ' || current_setting(name)
                               from unnest('{recovery_target,recovery_target_lsn,recovery_target_name,recovery_target_time,recovery_target_xid}'::text[]) name
                              where current_setting(name) <> ''), ', ');

-- Whether the database knows a time zone. An unknown one would stop the counting of all accounts' events.
create function is_time_zone(name text) returns boolean
language plpgsql immutable
as $$
begin
  perform timestamptz '2000-01-01 00:00Z' at time zone name;
  return true;
exception when invalid_parameter_value then
  return false;
end
$$;

-- The trigger of tables that are append only.
create function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
end
$$;
