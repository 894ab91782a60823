-- expand
-- What a destination refused within five minutes, over all workers: by the class of the reply (outcomes/bounce-rules.ts), without those about the
-- recipient's address or mailbox and without greylisting. Shown to the operator for an hour. Unlogged, as rule_hits.
create unlogged table destination_refusals (
  since      timestamptz not null,
  place      text not null,
  class      text not null,
  permanent  integer not null,
  for_now    integer not null,
  -- The latest reply, shortened and without addresses, and when it was counted.
  reply      text not null,
  at         timestamptz not null,
  primary key (since, place, class)
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);

-- The destination of the last attempt; null before it. Written with its outcome, and not indexed.
alter table delivery_queue add column last_place text;
