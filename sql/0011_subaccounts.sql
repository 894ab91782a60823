-- Accounts under an account: a parent may act for its subaccounts, nobody else sees them.

alter table accounts
  add column parent_id  integer references accounts,
  -- Its name among its parent's subaccounts; accounts.name is the parent's name, a slash and this.
  add column username   text,
  add column email      text,
  -- Kept for the dashboard: scrypt, with its salt and parameters.
  add column password   text,
  -- A deleted account's rows stay, its name becomes free.
  add column deleted_at timestamptz,
  drop constraint accounts_state_check,
  add constraint accounts_state_check check (state in ('active', 'suspended', 'deleted')),
  add constraint accounts_subaccount check ((parent_id is null) = (username is null));
create unique index accounts_username on accounts (parent_id, lower(username)) where deleted_at is null;
drop index accounts_name;
create unique index accounts_name on accounts (lower(name)) where deleted_at is null;
