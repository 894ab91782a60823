-- expand
-- Parts of bodies in object storage (BODY_STORE). `content` is then the key that the part is encrypted with, so that deleting the row erases
-- it, and `object_length` the bytes that it has in the object of its message. Null: `content` is the part itself.
alter table bodies
  add column object_length integer;

-- Objects to be removed, since their rows are deleted; a key that ends in "/" is a whole day.
create table object_removals (
  key      text primary key,
  noted_at timestamptz not null default service_now(),
  due_at   timestamptz not null default service_now()
);

create index object_removals_due on object_removals (due_at);
create index object_removals_noted on object_removals (noted_at);

-- How far the storage was searched for objects without a row: up to `after` in the objects of `day`. One row, and none if there is no storage.
create table object_sweep (
  -- Marks the bucket's prefix as that of this installation.
  owner  uuid not null default gen_random_uuid(),
  day    date not null default (service_now() at time zone 'UTC')::date - 7,
  after  text not null default '',
  due_at timestamptz not null default service_now(),
  id     boolean primary key default true check (id)
);
