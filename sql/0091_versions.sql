-- Which programs may run with the schema. The last file of the baseline has the number of the last of the migrations that the baseline
-- replaces, which is also the version of the programs that had them. The next migration is 0092.

-- The oldest version of programs that may run with this schema: the number of the last migration that such a version has. A migration that
-- removes or changes what older versions use raises it.
create table schema_minimum (
  only_row  boolean default true primary key check (only_row),
  version   integer not null
);

insert into schema_minimum (version) values (78);

-- How far a migration is that is applied in steps while processes work.
create table schema_backfills (
  name        text primary key,
  -- Where the next step begins; null after the last one.
  bookmark    text,
  rows        bigint not null,
  started_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now()
);
