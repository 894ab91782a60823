-- Accepted messages. Partitioned by week through the message id, which carries its time (UUIDv7).
-- No foreign keys here: a check would lock the account's row in every accept and serialise all of an account's accepts.

create table messages (
  id                uuid not null,
  account_id        integer not null,
  domain_id         integer not null,
  api_key_id        integer,
  door              text not null check (door in ('v2', 'v3', 'smtp')),
  accepted_at       timestamptz not null,
  scheduled_at      timestamptz,
  from_address      text not null,
  subject           text not null,
  tags              text[] not null default '{}',
  settings          jsonb not null default '{}',
  client_address    inet,
  -- How part 0 of the body is to be read: a whole MIME message, or content the worker composes per recipient.
  format            text not null check (format in ('mime', 'content')),
  -- Octets of the body as handed in, before compression.
  size              integer not null,
  parts             integer not null,
  recipients        integer not null,
  -- The sender asked for no bounces (MAIL FROM:<>), so the delivery uses the null return path too.
  null_return_path  boolean not null default false,
  -- First of this message's transaction numbers (v2 TRANSID): delivery n has transaction_base + 4 n.
  transaction_base  bigint not null,
  primary key (id)
) partition by range (id);

-- Bodies apart from messages: listing messages never drags bodies through memory, and a partition of bodies can go before
-- its messages do. `encoding` says what the service did (core/messages/body.ts): text is deflated there, which costs less
-- than Postgres' own compression and works where the server was built without lz4; the rest is stored as it is.
create table bodies (
  message_id  uuid not null,
  part        integer not null,
  encoding    text not null check (encoding in ('deflate', 'raw')),
  content     bytea not null,
  primary key (message_id, part)
) partition by range (message_id);

-- Raw bodies do not shrink any more, so pglz would only cost time; lz4 gives up early on such data and helps where it can.
do $$
begin
  alter table bodies alter column content set compression lz4;
exception when feature_not_supported then
  alter table bodies alter column content set storage external;
end
$$;

-- The first answer under an Idempotency-Key, kept for 24 hours over all doors. The unique key is what makes 100 parallel
-- equal calls one message.
create table idempotency_keys (
  account_id   integer not null,
  key          text not null,
  -- SHA-256 of what the client sent: the same key with another body is a conflict.
  fingerprint  bytea not null,
  message_id   uuid not null,
  created_at   timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Transaction numbers are handed to processes in blocks, so accept never waits for this.
create sequence transaction_numbers minvalue 0 increment by 16384;
