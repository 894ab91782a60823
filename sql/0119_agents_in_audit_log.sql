-- expand
-- The program through which an agent made the change with the key (docs/mcp.md), as it named itself; null for all others. The hash covers it (version 3).
alter table audit_log add column agent text;

create or replace function audit_hash(entry audit_log) returns bytea
language sql immutable
as $$
  select case entry.version
    when 1 then sha256(entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after)::text, 'UTF8'))
    when 2 then sha256('\x02'::bytea || entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after, entry.actor_user_id)::text, 'UTF8'))
    else sha256('\x03'::bytea || entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after, entry.actor_user_id, entry.agent)::text, 'UTF8'))
    end
$$;

create function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb, user_id integer, by_agent text
) returns void
language plpgsql
as $$
declare
  entry audit_log;
  last audit_log;
begin
  perform pg_advisory_xact_lock(7742, of_account);
  select * into last from audit_log where account_id = of_account order by number desc limit 1;
  entry.account_id := of_account;
  entry.number := coalesce(last.number, 0) + 1;
  entry.at := service_now();
  entry.actor_key_id := key_id;
  entry.actor_address := address;
  entry.actor_user_id := user_id;
  entry.agent := by_agent;
  entry.version := 3;
  entry.action := what;
  entry.object := which;
  entry.before := was;
  entry.after := became;
  entry.previous_hash := coalesce(last.hash, '');
  entry.hash := audit_hash(entry);
  insert into audit_log select entry.*;
end
$$;

-- As programs of an older version call it.
create or replace function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb, user_id integer
) returns void
language sql
as $$
  select audit_note(of_account, key_id, address, what, which, was, became, user_id, null)
$$;
