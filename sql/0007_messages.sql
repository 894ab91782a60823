-- Accepted messages. No table here has a foreign key that an accept would check: the check locks the row of the account, and would
-- serialise the account's accepts.

-- An accepted submission. Partitioned by week by its id, a UUIDv7.
create table messages (
  id                uuid primary key,
  account_id        integer not null,
  domain_id         integer not null,
  api_key_id        integer,
  -- The entry point.
  door              text not null check (door in ('v2', 'v3', 'smtp')),
  accepted_at       timestamptz not null,
  scheduled_at      timestamptz,
  from_address      text not null,
  subject           text not null,
  tags              text[] not null default '{}',
  -- Settings of the message: tracking, footer, unsubscribe groups and the like.
  settings          jsonb not null default '{}',
  client_address    inet,
  -- How part 0 of the body is read: a whole MIME message, or content that is composed for each recipient.
  format            text not null check (format in ('mime', 'content')),
  -- Bytes of the body as received.
  size              integer not null,
  parts             integer not null,
  recipients        integer not null,
  -- The sender wants no bounces (MAIL FROM:<>), so the delivery has the null return path, too.
  null_return_path  boolean not null default false,
  -- The first of the message's transaction numbers (v2 TRANSID): delivery n has transaction_base + 4 n.
  transaction_base  bigint not null
) partition by range (id);
-- An account's messages in order of time, and their number of recipients without reading the table.
create index messages_account on messages (account_id, id) include (recipients);
-- The messages by which a message was sent again; only those have an entry.
create index messages_resent on messages ((settings ->> 'resentFrom')) where settings ? 'resentFrom';

-- Processes reserve blocks of transaction numbers, so an accept does not wait for this sequence.
create sequence transaction_numbers minvalue 0 increment by 16384;

-- A part of a message: 0 is its content, the others are attachments. Apart from messages, so that lists do not read bodies and their
-- partitions can be dropped first. The service deflates text (docs/decisions/0005-bodies-are-deflated.md).
create table bodies (
  message_id     uuid not null,
  part           integer not null,
  encoding       text not null check (encoding in ('deflate', 'raw')),
  -- The part; or the key that it is encrypted with, if it is in object storage: deleting the row then erases it.
  content        bytea not null,
  -- CRC-32 of message, part and `content`. Null in rows of versions that had none.
  digest         integer,
  -- The number of bytes in the object of its message. Null if the part is here.
  object_length  integer,
  primary key (message_id, part)
) partition by range (message_id);

-- Bodies are deflated or do not get smaller: pglz would only take time. lz4 gives up early on them, but a server may be built without it.
do $$
begin
  alter table bodies alter column content set compression lz4;
exception when feature_not_supported then
  alter table bodies alter column content set storage external;
end
$$;

-- An object that is to be removed from object storage, because its rows are deleted. A key that ends in "/" is a whole day.
create table object_removals (
  key       text primary key,
  noted_at  timestamptz not null default service_now(),
  due_at    timestamptz not null default service_now()
);
create index object_removals_due on object_removals (due_at);
create index object_removals_noted on object_removals (noted_at);

-- How far object storage was searched for objects without a row: to `after` in the objects of `day`. One row; none without BODY_STORE.
create table object_sweep (
  -- Marks the bucket's prefix as that of this installation.
  owner   uuid not null default gen_random_uuid(),
  day     date not null default (service_now() at time zone 'UTC')::date - 7,
  after   text not null default '',
  due_at  timestamptz not null default service_now(),
  id      boolean default true primary key check (id)
);

-- A batch of scheduled v3 messages, which can be paused, resumed and cancelled together.
create table batches (
  account_id  integer not null references accounts,
  -- The client's name for it.
  id          text not null,
  -- If null, its messages are sent when they are due.
  state       text check (state in ('pause', 'cancel')),
  created_at  timestamptz not null default service_now(),
  primary key (account_id, id)
);
create index batches_age on batches (created_at);
create index batches_state on batches (account_id, created_at, id) where state is not null;

-- A message of a batch.
create table batch_messages (
  account_id  integer not null,
  batch_id    text not null,
  message_id  uuid not null,
  primary key (account_id, batch_id, message_id)
);

-- The message that was accepted under an Idempotency-Key, through any entry point; for 24 hours. The primary key makes a hundred
-- simultaneous equal calls one message.
create table idempotency_keys (
  account_id   integer not null,
  key          text not null,
  -- SHA-256 of the request: the same key with another request is a conflict.
  fingerprint  bytea not null,
  message_id   uuid not null,
  created_at   timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
-- A key may be or contain an address: it is found by the messages of a recipient who is erased.
create index idempotency_keys_message on idempotency_keys (message_id);
