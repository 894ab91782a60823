-- Unsubscribe groups with a name. Numbers are the account's own: one that moves in keeps those its programs know. Suppressions of
-- a number without a row here hold all the same.
create table unsubscribe_groups (
  account_id   integer not null references accounts,
  id           integer not null check (id > 0),
  name         text not null,
  description  text not null,
  is_default   boolean not null default false,
  created_at   timestamptz not null default service_now(),
  -- The row stays, so that its number is not given again: whoever left the group would be held from another one's mail.
  deleted_at   timestamptz,
  primary key (account_id, id)
);
create unique index unsubscribe_groups_name on unsubscribe_groups (account_id, lower(name)) where deleted_at is null;
create unique index unsubscribe_groups_default on unsubscribe_groups (account_id) where is_default and deleted_at is null;
