-- Batches: scheduled messages that can be paused, resumed and cancelled together.
create table batches (
  account_id  integer not null references accounts,
  -- As clients name it.
  id          text not null,
  -- Null: its messages are sent when they are due.
  state       text check (state in ('pause', 'cancel')),
  created_at  timestamptz not null default service_now(),
  -- Messages with this batch were accepted, which outlasts its end.
  primary key (account_id, id)
);
create index batches_state on batches (account_id, created_at, id) where state is not null;
create index batches_age on batches (created_at);

create table batch_messages (
  account_id  integer not null,
  batch_id    text not null,
  message_id  uuid not null,
  primary key (account_id, batch_id, message_id)
);
