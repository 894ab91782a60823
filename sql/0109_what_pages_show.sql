-- expand
-- The values with which a template with merge tags is shown in the editor and sent to its author, as JSON; null if none were entered. They are
-- the template's, not a version's: versions never change. Templates of the v3 API have theirs in editable_versions.
alter table templates add column test_data text;
-- The name servers of the domain's zone at its last check, by which the page says where its records are entered; null before it.
alter table domain_guards add column name_servers text[];
-- A running process of any program on any host. It says every minute that it runs; a row without news for an hour is deleted.
create table processes (
  id uuid primary key default uuidv7(),
  program text not null,
  host text not null,
  pid integer not null,
  -- As in package.json.
  version text not null,
  -- Bytes of the resident set.
  memory bigint not null,
  started_at timestamptz not null default service_now(),
  seen_at timestamptz not null default service_now()
);
