-- expand
-- Requests of webhooks that can be opened, and notices to the owners of accounts.

-- From now on a webhook has up to 100,000 requests that succeeded and as many that failed, for a week. A body is not stored: it is written
-- again from the events, so that an erasure reaches it.
alter table webhook_deliveries
  -- The types of the batch, and the settings by which the body was written. Null for requests of older versions, which cannot be opened.
  add column types text[],
  add column written jsonb,
  add column events integer,
  -- JSON: the header fields by which the receiver verifies the request, and those of the response.
  add column request_head text,
  add column answer_head text,
  -- The beginning of the response.
  add column answer bytea;
create index webhook_deliveries_age on webhook_deliveries (at);

-- How many events of the range are to be reported. Null for batches of older versions.
alter table webhook_batches add column events integer;

alter table webhooks
  -- Why the service disabled it: the receiver said that it is gone, or failed for days.
  add column disabled_reason text check (disabled_reason in ('gone', 'failing')),
  -- The hour of the latest request, and the long responses that are stored of it.
  add column answers_hour timestamptz,
  add column answers_kept integer not null default 0;

alter table events drop constraint events_type_check;
alter table events add constraint events_type_check check (type in (
  'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired', 'opened', 'clicked', 'unsubscribed', 'resubscribed',
  'complained', 'domain', 'account', 'domain_inactive', 'webhook_disabled', 'key_expiring')) not valid;

-- The expiry that the owners of the account know of.
alter table api_keys add column expiry_told timestamptz;
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and revoked_at is null;

-- Kinds of notices that the owners of the account do not want.
alter table accounts add column muted_notices text[] not null default '{}';

-- The latest notice to the owners of an account about one thing.
create table owner_notices (
  account_id  integer not null references accounts on delete cascade,
  -- Of NOTICE_KINDS, and what it is about: the number of a webhook or key, a domain, a rule.
  kind        text not null,
  subject     text not null,
  -- What happened: another notice about the same thing has another mark.
  mark        text not null,
  detail      jsonb not null,
  created_at  timestamptz not null default service_now(),
  state       text not null default 'waiting' check (state in ('waiting', 'sent', 'off', 'over', 'no-address', 'failed')),
  -- The mail that it is in.
  bundle      integer,
  primary key (account_id, kind, subject)
);
create index owner_notices_age on owner_notices (created_at);

-- The next mail to the owners of an account, with all notices that wait then.
create table owner_notice_mails (
  account_id  integer primary key references accounts on delete cascade,
  -- The number of the mail.
  bundle      integer not null default 0,
  -- When it is sent, or tried next. If null, no notice waits.
  due_at      timestamptz,
  tries       smallint not null default 0,
  -- When it was first due; and the earliest time of the next one.
  begun_at    timestamptz,
  next_at     timestamptz
);
create index owner_notice_mails_due on owner_notice_mails (due_at) where due_at is not null;
