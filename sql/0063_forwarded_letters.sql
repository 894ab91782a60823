-- Letters to abuse@ and postmaster@ are passed on to OPERATOR_MAIL. All columns are null for what is not passed on.
alter table returns
  -- MAIL FROM of the message that came back; empty for the null sender.
  add column mail_from text,
  -- waiting, excess (beyond the hourly limit; told in the next summary), sent, summarised, or why it is not passed on: own, automatic, failed.
  add column forward text,
  -- When it is due, or what became of it was decided.
  add column forward_at timestamptz,
  -- The hour in which it was first tried, whose limit it counts in; and the number of tries.
  add column forward_hour timestamptz,
  add column forward_tries smallint,
  -- The message that has it, or the summary that counts it.
  add column forward_message_id uuid;
create index returns_forward on returns (forward_at) where forward in ('waiting', 'excess');
create index returns_forwarded on returns (forward_hour) where forward_hour is not null;
