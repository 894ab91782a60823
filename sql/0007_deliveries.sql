-- Deliveries: the hot queue, what became of them, and every attempt. The rows of one table never move to another except
-- from the queue to finished_deliveries, in the transaction that records the outcome.

-- One row a running delivery worker. The worker holds the advisory lock (7741, id) on a session of its own while it lives
-- and advances `beat`; a free lock means it died, a beat that stands still means it hangs (core/delivery/lease.ts).
create table workers (
  id          integer generated always as identity primary key,
  host        text not null,
  pid         integer not null,
  beat        bigint not null default 0,
  started_at  timestamptz not null default service_now()
);

create table delivery_queue (
  message_id        uuid not null,
  recipient_no      integer not null,
  account_id        integer not null,
  state             text not null check (state in ('scheduled', 'queued', 'deferred', 'sending')),
  -- As it goes into RCPT TO; recipient_key is its canonical lower-case form, for suppressions.
  recipient         text not null,
  recipient_key     text not null,
  recipient_domain  text not null,
  kind              text not null check (kind in ('to', 'cc', 'bcc')),
  -- The caller's own id for this delivery (v2 x-apiheader).
  reference         text,
  -- What differs for this recipient: header lists, merge attributes, extra headers, attachments (core/messages/personal.ts).
  personal          jsonb,
  next_at           timestamptz not null,
  -- Tried until then; a deferral after it is final.
  expires_at        timestamptz not null,
  attempt           integer not null default 0,
  -- The worker that holds the lease; null when nobody does.
  worker_id         integer,
  -- How often a worker died or hung with this delivery in hand.
  abandoned         integer not null default 0,
  -- The final dot of the running attempt was about to be written, to this host: if the worker is lost now, nobody knows
  -- whether the remote server took the message (RFC 1047).
  dot_at            timestamptz,
  dot_host          text,
  -- After an indeterminate attempt: the only host the next attempt may use.
  only_host         text,
  primary key (message_id, recipient_no)
) with (
  -- Room on each page for the new versions that claim and dot leave behind.
  fillfactor = 60,
  -- Rows live for seconds, so vacuum by count, soon, and without sleeping.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
-- Claim: what is due, oldest first.
create index delivery_queue_due on delivery_queue (next_at) where worker_id is null;
-- Claim for a site that has room again.
create index delivery_queue_site on delivery_queue (recipient_domain, next_at) where worker_id is null;
-- Take over what a lost worker held.
create index delivery_queue_worker on delivery_queue (worker_id) where worker_id is not null;

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
  -- Why it was dropped (a suppression's reason, or 'invalid'), null otherwise.
  reason            text,
  finished_at       timestamptz not null,
  primary key (message_id, recipient_no)
) partition by range (message_id);

create table attempts (
  message_id     uuid not null,
  recipient_no   integer not null,
  attempt        integer not null,
  account_id     integer not null,
  worker_id      integer not null,
  -- abandoned: the worker was lost before the final dot, so nothing can have been delivered.
  outcome        text not null check (outcome in ('delivered', 'deferred', 'bounced', 'abandoned')),
  -- The final dot was written and no reply seen: the remote server may have the message.
  indeterminate  boolean not null default false,
  started_at     timestamptz not null,
  milliseconds   integer not null,
  -- Where the conversation stood: mx, connect, greeting, ehlo, starttls, tls, auth, mail, rcpt, data, dot.
  stage          text,
  host           text,
  address        text,
  tls            text,
  code           smallint,
  enhanced       text,
  reply          text,
  -- Each step: [{"step","ms","code","enhanced","text"}].
  conversation   json,
  primary key (message_id, recipient_no, attempt)
) partition by range (message_id);

-- One place to read deliveries from, wherever they stand.
create view deliveries as
  select message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
         next_at, expires_at, null::text as reason, null::timestamptz as finished_at
    from delivery_queue
  union all
  select message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, reference, attempt,
         null, null, reason, finished_at
    from finished_deliveries;
