-- The oldest version of the programs that may run with this schema: the number of the last migration that a version has. A migration
-- that removes or changes what older versions use raises it, in the same file.
create table schema_minimum (
  only_row boolean primary key default true check (only_row),
  version integer not null
);
insert into schema_minimum (version) values (78);
