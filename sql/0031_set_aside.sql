-- What costs workers their lives is set aside (docs/decisions/0013-set-aside.md, core/delivery/set-aside.ts).
alter table delivery_queue
  -- The worker that holds it is at it, and at no other delivery that a worker was lost with before.
  add column alone boolean not null default false,
  -- How often a worker was lost while it was at this one alone.
  add column blamed smallint not null default 0,
  -- Why it is not claimed by itself any more; null: it is.
  add column set_aside text;

-- An operator's list: as a rule there is none.
create index delivery_queue_set_aside on delivery_queue (message_id, recipient_no) where set_aside is not null;

create or replace view deliveries as
  select message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
         next_at, expires_at, set_aside as reason, null::timestamptz as finished_at
    from delivery_queue
  union all
  select message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
         null, null, reason, finished_at
    from finished_deliveries;
