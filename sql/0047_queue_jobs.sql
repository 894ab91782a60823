-- What an operator does to many deliveries at once: first a plan, which expires, then a job that workers do in chunks
-- (core/delivery/control/job-work.ts).
create table queue_jobs (
  id           bigint generated always as identity primary key,
  action       text not null check (action in ('flush', 'fail', 'hold', 'release')),
  -- The selectors, see core/delivery/control/job-filter.ts.
  filter       jsonb not null,
  state        text not null default 'planned' check (state in ('planned', 'running', 'done', 'stopped')),
  -- Deliveries found by the plan. `partial`: there may be others, because the queue was read only in part.
  planned      bigint not null,
  partial      boolean not null,
  created_at   timestamptz not null default service_now(),
  confirmed_at timestamptz,
  finished_at  timestamptz,
  -- The next chunk begins after this delivery, and ends before the messages accepted after the job was confirmed.
  message_id   uuid not null default '00000000-0000-0000-0000-000000000000',
  recipient_no integer not null default -1,
  end_id       uuid,
  done         bigint not null default 0,
  -- Deliveries by account id, for the audit log.
  accounts     jsonb not null default '{}'
);
create index queue_jobs_running on queue_jobs (id) where state = 'running';

-- Of held mail (waiting_for 'hold'): when it was due before. Its next_at is the end of its lifetime.
alter table delivery_queue add column held_next_at timestamptz;
