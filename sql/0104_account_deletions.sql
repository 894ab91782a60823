-- expand
-- Since when the account is closed: its keys, passwords and members are refused, and its mail waits. Null unless it is to be deleted (account_deletions).
alter table accounts add column closed_at timestamptz;
create index accounts_closed on accounts (id) where closed_at is not null;

-- The deletion of an account, first as a plan. It closes the account; after the grace period, workers remove its rows in steps. Kept, since nothing else
-- says what became of the number.
create table account_deletions (
  id            integer generated always as identity primary key,
  account_id    integer not null references accounts,
  state         text not null default 'planned' check (state in ('planned', 'closed', 'restored', 'removing', 'done')),
  grace_days    integer not null check (grace_days between 0 and 90),
  -- How many rows of each kind the plan found.
  counts        jsonb not null,
  created_at    timestamptz not null default service_now(),
  confirmed_at  timestamptz,
  -- When the removal begins.
  remove_at     timestamptz,
  -- When a worker takes the next step.
  due_at        timestamptz,
  -- The name of the step, and how far it is; null at its beginning.
  step          text,
  position      jsonb,
  -- How many rows each step has removed.
  removed       jsonb not null default '{}',
  finished_at   timestamptz
);
create unique index account_deletions_open on account_deletions (account_id) where state in ('closed', 'removing');
create index account_deletions_due on account_deletions (due_at) where state in ('closed', 'removing');

-- The log of an account goes with the account. No other entry can be removed.
drop trigger audit_log_append_only on audit_log;
create trigger audit_log_append_only before update or truncate on audit_log for each statement execute function refuse_change();

create function refuse_deletion() returns trigger language plpgsql as $$
begin
  if not exists (select from account_deletions d where d.account_id = old.account_id and d.state = 'removing') then
    raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end
$$;
create trigger audit_log_removal before delete on audit_log for each row execute function refuse_deletion();
