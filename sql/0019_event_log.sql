-- What the event log, statistics and webhooks read: gap-free numbers per account, given after the fact by one reader.

alter table events
  drop constraint events_type_check,
  add constraint events_type_check check (type in (
    'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired',
    -- What readers did, by pixel, link and List-Unsubscribe, and what their providers reported (ARF).
    'opened', 'clicked', 'unsubscribed', 'complained',
    -- A sending domain became active, or ceased to be. Has no message.
    'domain'));

-- What was committed since the sequencer last looked. Equal keys share an entry, so a batch of accepts costs little.
create index events_transaction on events (transaction);
-- The events of a page.
create index events_account on events (account_id, transaction);

-- How far each reader that goes by commit order has come: all events of transactions up to this one are dealt with.
create table event_cursors (
  name         text primary key,
  transaction  xid8 not null,
  moved_at     timestamptz not null default service_now(),
  -- Added to the transactions of this server: one restored from a dump counts from the beginning again, while its events carry
  -- the old one's numbers (core/events/restored.ts).
  transaction_offset  bigint not null default 0
);
insert into event_cursors (name, transaction) values ('numbers', '0');

-- The numbers of an account's events: those of this account and week whose transaction lies in (after_transaction,
-- to_transaction], ordered by (transaction, id), have first_number and the following ones. No event is ever deleted alone, so
-- the count stands; events of one week go together, and with them their pages, but never an account's last page: it knows
-- which number comes next.
create table event_pages (
  account_id         integer not null,
  first_number       bigint not null,
  count              integer not null,
  week               timestamptz not null,
  after_transaction  xid8 not null,
  to_transaction     xid8 not null,
  primary key (account_id, first_number)
) with (fillfactor = 70);

-- What an account has its mail made with, unless the message says otherwise, and how it is told and kept.
alter table accounts
  add column open_tracking     boolean not null default true,
  add column click_tracking    boolean not null default true,
  add column unsubscribe_link  boolean not null default false,
  -- Appended to its mail. Null: no footer.
  add column footer_html       text,
  add column footer_text       text,
  -- Opens, clicks and unsubscribes are counted without address and program of the reader.
  add column privacy_mode      boolean not null default false,
  -- Days of statistics begin at its midnight.
  add column time_zone         text not null default 'UTC',
  -- Days that events and bodies are kept. Null: as long as the operator keeps them.
  add column event_days        integer,
  add column body_days         integer;
