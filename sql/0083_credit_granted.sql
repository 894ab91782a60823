-- backfill credit_balances
with step as (select account_id from credit_balances where account_id > coalesce($1::text, '0')::int order by account_id limit 100),
changed as (
  update credit_balances b set granted = last.credit, granted_at = last.at
    from step cross join lateral (
      select (l.after ->> 'credit')::bigint as credit, l.at
        from (select * from audit_log where account_id = step.account_id order by number desc limit 10000) l
        join accounts a on a.id = l.account_id
       where starts_with(l.action, 'credit.') and l.object in ('account ' || a.id, 'subaccount ' || a.username)
         and l.after ->> 'credit' ~ '^\d{1,16}$'
       order by l.number desc limit 1) last
   where b.account_id = step.account_id and b.granted is null
)
select max(account_id)::text as bookmark, count(*) as rows from step
