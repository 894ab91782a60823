-- Deliveries: one is one message to one recipient. A row moves from delivery_queue to finished_deliveries in the transaction that records
-- its outcome.

-- A running delivery worker. It holds the advisory lock (7741, id) in a session of its own, and advances its heartbeat `beat`: a free lock
-- means that it died, an unchanged heartbeat that it hangs.
create table workers (
  id          integer generated always as identity primary key,
  host        text not null,
  pid         integer not null,
  beat        bigint not null default 0,
  started_at  timestamptz not null default service_now()
);

-- A delivery that is not finished. Its flow is its account and class: claims go round the flows, each by an index of its due mail. Mail
-- that its destination has no capacity for waits in the database, and is claimed by destination.
create table delivery_queue (
  message_id        uuid not null,
  recipient_no      integer not null,
  account_id        integer not null,
  state             text not null check (state in ('scheduled', 'queued', 'deferred', 'sending')),
  -- As in RCPT TO; recipient_key is its canonical lower-case form, for suppressions.
  recipient         text not null,
  recipient_key     text not null,
  recipient_domain  text not null,
  kind              text not null check (kind in ('to', 'cc', 'bcc')),
  -- The caller's id of this delivery (v2 x-apiheader).
  reference         text,
  -- Data of this recipient: header lists, merge attributes, extra headers, attachments.
  personal          jsonb,
  next_at           timestamptz not null,
  -- A deferral after it is final.
  expires_at        timestamptz not null,
  attempt           integer not null default 0,
  -- The worker that has claimed it; null if it is not claimed.
  worker_id         integer,
  -- How many workers died or hung with it in flight.
  abandoned         integer not null default 0,
  -- When and to which host end of data was about to be sent. If the worker dies afterwards, it is unknown whether the host accepted the
  -- message (RFC 1047).
  dot_at            timestamptz,
  dot_host          text,
  -- After an indeterminate attempt: the only host of the next one.
  only_host         text,
  -- The unsubscribe group of its message.
  group_id          integer,
  -- Suppressions that the message may bypass: `all`, or reasons. Usually null.
  bypass            text[],
  -- Its worker builds no other delivery that a worker died with before.
  alone             boolean not null default false,
  -- How many workers died while they built it alone.
  blamed            smallint not null default 0,
  -- The reason why it waits for the operator (docs/decisions/0013-set-aside.md). If null, it does not wait.
  set_aside         text,
  -- 0 urgent, 1 normal, 2 bulk.
  class             smallint not null default 1,
  -- The destination that it waits for, and what that lacks. Its next_at is when it is looked at again in any case.
  place             text,
  waiting_for       text,
  -- When held mail (waiting_for is 'hold') was due. Its next_at is the end of its lifetime.
  held_next_at      timestamptz,
  -- The pool that the operator has chosen for it.
  pool_id           integer,
  primary key (message_id, recipient_no)
) with (
  -- Room on each page for the new versions that a claim and end of data make. Rows live for seconds, so vacuum by count, early, and without
  -- sleeping. Without truncation, whose lock keeps claims waiting: with a million rows in the queue, one claim in a hundred took 47 ms.
  fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, vacuum_truncate = false
);
-- The claim: the oldest due deliveries of a flow.
create index delivery_queue_flow on delivery_queue (account_id, class, next_at) where worker_id is null;
-- The waiting messages of an account, newest first. A claim adds no entry.
create index delivery_queue_listed on delivery_queue (account_id, message_id, recipient_no) where worker_id is null;
-- The claim of mail that waits for a destination.
create index delivery_queue_parked on delivery_queue (place, class, account_id, next_at)
  where worker_id is null and place is not null;
-- The waiting deliveries of one recipient, for export and erasure. Claimed ones are found by delivery_queue_worker, so a claim adds no
-- entry. Costs about 1 µs and 50 bytes of WAL per delivery.
create index delivery_queue_person on delivery_queue (hashtextextended(recipient_key, account_id)) where worker_id is null;
-- The operator's list, which is usually empty.
create index delivery_queue_set_aside on delivery_queue (message_id, recipient_no) where set_aside is not null;
-- Takeover from a dead worker.
create index delivery_queue_worker on delivery_queue (worker_id) where worker_id is not null;

-- A delivery in its final state.
create table finished_deliveries (
  message_id        uuid not null,
  recipient_no      integer not null,
  account_id        integer not null,
  state             text not null check (state in ('delivered', 'bounced', 'dropped', 'expired')),
  recipient         text not null,
  recipient_key     text not null,
  recipient_domain  text not null,
  kind              text not null,
  reference         text,
  personal          jsonb,
  attempt           integer not null,
  -- Why it was dropped: the reason of a suppression, or 'invalid'.
  reason            text,
  finished_at       timestamptz not null,
  primary key (message_id, recipient_no)
) partition by range (message_id);
-- All deliveries to one recipient. By a hash: an index of the addresses would be as large as the table.
create index finished_deliveries_person on finished_deliveries (hashtextextended(recipient_key, account_id));

-- All deliveries, finished or not.
create view deliveries as
  select message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
         next_at, expires_at, set_aside as reason, null::timestamptz as finished_at
    from delivery_queue
  union all
  select message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
         null, null, reason, finished_at
    from finished_deliveries;

-- One attempt of a delivery.
create table attempts (
  message_id     uuid not null,
  recipient_no   integer not null,
  attempt        integer not null,
  account_id     integer not null,
  worker_id      integer not null,
  -- abandoned: the worker died before end of data, so nothing can have been delivered.
  outcome        text not null check (outcome in ('delivered', 'deferred', 'bounced', 'abandoned')),
  -- End of data was sent, and no reply received: the host may have the message.
  indeterminate  boolean not null default false,
  started_at     timestamptz not null,
  milliseconds   integer not null,
  -- The last step: mx, connect, greeting, ehlo, starttls, tls, auth, mail, rcpt, data, dot.
  stage          text,
  host           text,
  address        text,
  tls            text,
  code           smallint,
  enhanced       text,
  reply          text,
  -- All steps: [{"step","ms","code","enhanced","text"}].
  conversation   json,
  -- The destination: provider or site, and source, such as "google@mta-1".
  place          text,
  -- The demand on the connection. If null, TLS if it is offered.
  tls_policy     text,
  -- Whether the certificate was valid for the host. Null without TLS.
  tls_verified   boolean,
  -- Where the demand comes from: one of TLS_ORIGINS.
  tls_origin     text,
  -- Whether a filter or policy of the receiver deferred it, according to its reply; greylisting does not count.
  blocked        boolean,
  primary key (message_id, recipient_no, attempt)
) partition by range (message_id);

-- An operation of the operator on many deliveries: first a plan, which expires, then a job that workers do in chunks.
create table queue_jobs (
  id            bigint generated always as identity primary key,
  action        text not null check (action in ('flush', 'fail', 'hold', 'release', 'reroute', 'requeue')),
  -- The selectors.
  filter        jsonb not null,
  state         text not null default 'planned' check (state in ('planned', 'running', 'done', 'stopped')),
  -- Deliveries found by the plan. If `partial`, the queue was read only in part, so there may be more.
  planned       bigint not null,
  partial       boolean not null,
  created_at    timestamptz not null default service_now(),
  confirmed_at  timestamptz,
  finished_at   timestamptz,
  -- The next chunk begins after this delivery. The job ends before the messages that were accepted after it was confirmed.
  message_id    uuid not null default '00000000-0000-0000-0000-000000000000',
  recipient_no  integer not null default -1,
  end_id        uuid,
  done          bigint not null default 0,
  -- Deliveries by account, for the audit log.
  accounts      jsonb not null default '{}',
  -- The account of message_id, for `requeue`, which reads finished deliveries by account.
  account_id    integer not null default 0
);
create index queue_jobs_running on queue_jobs (id) where state = 'running';
