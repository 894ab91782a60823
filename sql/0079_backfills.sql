-- expand
-- How far a migration has come that is applied in steps while processes work.
create table schema_backfills (
  name text primary key,
  -- Where the next step begins; null after the last one.
  bookmark text,
  rows bigint not null,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
