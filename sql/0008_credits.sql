-- Credit: one is one recipient that is queued.

-- Recipients queued on a day (UTC). The slot is the backend's, so simultaneous accepts of one account write different rows and do not wait
-- for each other.
create table credit_usage (
  account_id  integer not null,
  day         date not null,
  slot        smallint not null,
  used        bigint not null,
  primary key (account_id, day, slot)
) with (
  -- Each commit of a backend writes its row: new versions stay on the page.
  fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);

-- The credit of an account with a limit. The row is locked from the charge to the commit, so it cannot be overdrawn. A subaccount without a
-- row uses its parent's.
create table credit_balances (
  account_id        integer primary key,
  -- The rest of the one-time credit.
  balance           bigint not null default 0 check (balance between 0 and 9007199254740991),
  -- Credit of each period, which does not accumulate. If null, none.
  recurring_amount  bigint check (recurring_amount >= 0),
  recurring_every   text check (recurring_every in ('day', 'week', 'month')),
  recurring_from    date,
  -- The last day.
  recurring_until   date,
  recurring_active  boolean not null default false,
  -- The period in which period_used was used. In any other nothing has been used yet, so periods need no reset.
  period            integer,
  period_used       bigint not null default 0 check (period_used >= 0),
  -- The one-time credit after the last change by a person, by which its owners are notified that most of it is used. Null before the first
  -- change.
  granted           bigint,
  granted_at        timestamptz,
  constraint credit_balances_recurring check (num_nulls(recurring_amount, recurring_every, recurring_from, recurring_until) in (0, 4))
) with (fillfactor = 40);

-- The latest mail to the owners of an account that its credit is running low, or that it has no owner. Not in credit_balances, whose rows
-- accepts lock.
create table credit_notices (
  account_id  integer primary key references accounts on delete cascade,
  -- The refill whose use it is about: the change by a person, and the number of the period of the recurring credit; -1 without one.
  granted_at  timestamptz not null,
  period      integer not null,
  state       text not null default 'waiting' check (state in ('waiting', 'sent', 'off', 'no-owner', 'refilled', 'failed')),
  created_at  timestamptz not null default service_now(),
  -- When it is tried next; and the number of tries.
  due_at      timestamptz not null default service_now(),
  tries       smallint not null default 0
);
create index credit_notices_due on credit_notices (due_at) where state = 'waiting';

-- The number of the current period of the recurring credit, from 0; null if there is none. Periods begin on the weekday or the day of the
-- month of the first day; in a shorter month on its last day.
create function credit_period(of_balance credit_balances) returns integer
language plpgsql stable
as $$
declare
  today date := (service_now() at time zone 'UTC')::date;
  since date := of_balance.recurring_from;
  months integer;
begin
  if not of_balance.recurring_active or since is null or today not between since and of_balance.recurring_until then
    return null;
  end if;
  if of_balance.recurring_every = 'day' then
    return today - since;
  elsif of_balance.recurring_every = 'week' then
    return (today - since) / 7;
  end if;
  months := (extract(year from today) - extract(year from since)) * 12 + extract(month from today) - extract(month from since);
  return case when (since + make_interval(months => months))::date > today then months - 1 else months end;
end
$$;

-- The rest of the recurring credit in the current period.
create function recurring_left(of_balance credit_balances) returns bigint
language sql stable
as $$
  select case when runs.period is null then 0
              when runs.period = of_balance.period then greatest(of_balance.recurring_amount - of_balance.period_used, 0)
              else of_balance.recurring_amount end
    from (select credit_period(of_balance) as period) runs
$$;

-- Charges messages of accounts that may have a limit, in the transaction that accepts them. In order, each whole or not at all: a small
-- message can be charged after a large one was refused. Returns for each: 'stored', 'repeated' (its idempotency key is in use; nothing is
-- charged) or 'refused' (nothing is charged, and its key is free).
--
-- Balances are locked in the order of their accounts, then keys in theirs, so two batches cannot deadlock. The function is volatile: each
-- statement sees what was committed while it waited for the one before.
create function charge_credits(ids uuid[], accounts integer[], parents integer[], keys text[], fingerprints text[], costs integer[])
returns table (message_id uuid, verdict text)
language plpgsql
as $$
declare
  fresh uuid[];
  poor uuid[] := '{}';
  payer credit_balances;
  one record;
  recurring bigint;
  available bigint;
  charged bigint;
  runs integer;
begin
  perform from credit_balances b where b.account_id = any(accounts || parents) order by b.account_id for update;
  if cardinality(array_remove(keys, null)) > 0 then
    with keyed as (
      insert into idempotency_keys as k (account_id, key, fingerprint, message_id, created_at)
      select m.account_id, m.key, decode(m.fingerprint, 'hex'), m.id, service_now()
        from unnest(ids, accounts, keys, fingerprints) with ordinality as m(id, account_id, key, fingerprint, place)
       where m.key is not null order by m.account_id, m.key, m.place
      on conflict do nothing
      returning k.message_id)
    select array_agg(keyed.message_id) into fresh from keyed;
  end if;

  for payer in
    select b.* from credit_balances b where b.account_id = any(accounts || parents) order by b.account_id
  loop
    recurring := recurring_left(payer);
    available := payer.balance + recurring;
    charged := 0;
    for one in
      select m.id, m.cost from unnest(ids, accounts, parents, keys, costs) with ordinality
             as m(id, account_id, parent_id, key, cost, place)
       where (m.key is null or m.id = any(fresh))
         and payer.account_id = coalesce((select own.account_id from credit_balances own where own.account_id = m.account_id),
                                         m.parent_id)
       order by m.place
    loop
      if one.cost > available - charged then
        poor := poor || one.id;
      else
        charged := charged + one.cost;
      end if;
    end loop;
    if charged > 0 then
      runs := credit_period(payer);
      update credit_balances b
         set balance = b.balance - (charged - least(charged, recurring)),
             period_used = case when b.period is not distinct from runs then b.period_used else 0 end + least(charged, recurring),
             period = runs
       where b.account_id = payer.account_id;
    end if;
  end loop;

  -- Only keys that were inserted above are of messages that can be refused.
  if fresh is not null and cardinality(poor) > 0 then
    delete from idempotency_keys k
     using unnest(ids, accounts, keys) as m(id, account_id, key)
     where k.account_id = m.account_id and k.key = m.key and k.message_id = m.id and m.id = any(poor);
  end if;
  return query
    select m.id, case when m.key is not null and not coalesce(m.id = any(fresh), false) then 'repeated'
                      when m.id = any(poor) then 'refused' else 'stored' end
      from unnest(ids, keys) as m(id, key);
end
$$;
