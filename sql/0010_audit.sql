-- Who changed what, from where: append only, each entry of an account chained to the one before by its hash.

create table audit_log (
  account_id      integer not null,
  -- Without gaps within the account, in commit order: an entry that is missing shows.
  number          bigint not null,
  at              timestamptz not null,
  -- Null: the operator, at the command line.
  actor_key_id    integer,
  actor_address   inet,
  -- 'template.edit', of 'template 12'.
  action          text not null,
  object          text not null,
  -- What changed. Never a secret, a body, or a recipient's address: that goes as its keyed hash.
  before          jsonb,
  after           jsonb,
  previous_hash   bytea not null,
  hash            bytea not null,
  primary key (account_id, number)
);

-- SHA-256 of the entry before and of everything in this one. jsonb has one text for one value, and the time goes as microseconds
-- of the epoch, so the hash is the same in every session.
create function audit_hash(entry audit_log) returns bytea
language sql immutable
as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_array(
    entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
    entry.action, entry.object, entry.before, entry.after)::text, 'UTF8'))
$$;

-- Adds an entry in the transaction of the change it tells of. An account's entries are written one at a time: changes of what
-- an account owns are rare, and a chain has one end.
create function audit_note(
  of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb
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
  entry.action := what;
  entry.object := which;
  entry.before := was;
  entry.after := became;
  entry.previous_hash := coalesce(last.hash, '');
  entry.hash := audit_hash(entry);
  insert into audit_log select entry.*;
end
$$;

create function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
end
$$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
