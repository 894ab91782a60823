-- Where accounts want to be told of events, and what is on its way there.

create table webhooks (
  id                 integer generated always as identity primary key,
  account_id         integer not null,
  url                text not null,
  -- Event types in the service's own words.
  events             text[] not null,
  format             text not null check (format in ('v2', 'v3')),
  -- How the v2 shape is written: values as text, complaints as "abuse", ids of events besides.
  as_text            boolean not null,
  abuse              boolean not null,
  event_ids          boolean not null,
  -- Sealed: a JSON object of the request headers to send besides; the HMAC secret and the one before it; the ECDSA key (PKCS 8).
  headers            bytea not null,
  secret             bytea not null,
  former_secret      bytea,
  former_until       timestamptz,
  signing_key        bytea not null,
  public_key         text not null,
  enabled            boolean not null,
  created_at         timestamptz not null default service_now(),
  -- All of the account's events up to this number are told, or in a batch, or of no interest.
  position           bigint not null,
  -- When a worker is to look at it. Null: nothing to do until there are more events.
  due_at             timestamptz,
  -- Nothing goes out before: the receiver asked for that.
  held_until         timestamptz,
  -- Since when nothing but single probes go out, as it does not answer. Null: it answers.
  failing_since      timestamptz,
  succeeded_at       timestamptz,
  -- The latest failure, or why the service disabled it.
  problem            text,
  disabled_at        timestamptz,
  -- How long the latest answer took: a slow receiver gets one request at a time.
  milliseconds       integer not null default 0,
  -- How many requests went well and how many not: places in the log.
  succeeded          bigint not null default 0,
  failed             bigint not null default 0
) with (fillfactor = 50);
create index webhooks_account on webhooks (account_id, id);
create index webhooks_due on webhooks (due_at) where enabled and due_at is not null;

-- A batch on its way: a run of the account's event numbers, never the events themselves. Gone once the receiver has it.
create table webhook_batches (
  id            uuid primary key default gen_random_uuid(),
  webhook_id    integer not null,
  account_id    integer not null,
  -- The events with a number in (after_number, to_number] that are of these types.
  after_number  bigint not null,
  to_number     bigint not null,
  types         text[] not null,
  made_at       timestamptz not null default service_now(),
  -- waiting: for its turn, or in a worker's hands until the lease ends; dead: given up, to be sent again by hand.
  state         text not null default 'waiting' check (state in ('waiting', 'dead')),
  leased_until  timestamptz,
  lease         integer not null default 0,
  attempts      integer not null default 0,
  next_at       timestamptz not null default service_now(),
  failed_since  timestamptz,
  failed_at     timestamptz,
  -- It fails while others go through, so it says nothing about the receiver and waits apart.
  aside         boolean not null default false,
  problem       text
) with (fillfactor = 60);
create index webhook_batches_webhook on webhook_batches (webhook_id, state, next_at);

-- The latest requests of each webhook: a ring of successes and one of failures, so it never grows.
create table webhook_deliveries (
  webhook_id    integer not null,
  place         integer not null,
  account_id    integer not null,
  batch_id      uuid not null,
  at            timestamptz not null,
  after_number  bigint not null,
  to_number     bigint not null,
  attempt       integer not null,
  -- Null: there was no answer.
  status        integer,
  milliseconds  integer not null,
  problem       text,
  primary key (webhook_id, place)
);
