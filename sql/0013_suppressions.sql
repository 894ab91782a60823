-- Suppressions by group and for all accounts, automatic ones that end, and one index probe for all of them.

alter table suppressions
  -- 0 for the operator's, which hold for all accounts; that is no account, so nothing is referenced any more.
  drop constraint suppressions_account_id_fkey,
  -- An unsubscribe group of the account: only messages that name it are held. 0 where the scope is not 'group'.
  add column group_id    integer not null default 0,
  -- An automatic entry holds no mail from then on, and is tidied away. Null: for good.
  add column held_until  timestamptz,
  drop constraint suppressions_scope_check,
  add constraint suppressions_scope_check check (scope in ('address', 'domain', 'group')),
  add constraint suppressions_group_check check ((scope = 'group') = (group_id > 0)),
  drop constraint suppressions_pkey,
  -- No address is a domain, so an address and its domain, own and global, are four keys of one look-up. Lists are in its order.
  add primary key (account_id, value, group_id);

-- Lists by reason.
create index suppressions_reason on suppressions (account_id, reason, value, group_id);
-- Lists of a group.
create index suppressions_group on suppressions (account_id, group_id, value) where group_id > 0;
-- Tidying; automatic entries only.
create index suppressions_held_until on suppressions (held_until) where held_until is not null;

-- The unsubscribe group its message names, for the look-ups of claim and final dot.
alter table delivery_queue add column group_id integer;
