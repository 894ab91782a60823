-- What a key may not do, its end, and how often it and its account may call.

alter table api_keys
  -- Null: any. What a null leaves open, scopes and the account still close.
  add column templates            integer[] check (cardinality(templates) > 0),
  add column sender_domains       text[] check (cardinality(sender_domains) > 0),
  add column recipient_domains    text[] check (cardinality(recipient_domains) > 0),
  add column recipients_per_hour  integer check (recipients_per_hour > 0),
  add column calls_per_minute     integer check (calls_per_minute > 0),
  -- From then on it is refused as if it were revoked: the owner's date, or the end of a rotation's overlap.
  add column expires_at           timestamptz,
  -- The key whose allowances this one draws on: keys made by a limited key, or in its place, don't multiply what it may do.
  add column counts_with          integer,
  -- After a rotation: the key that took over.
  add column replaced_by          integer,
  -- To the minute; written off the answer's path.
  add column last_used_at         timestamptz;

alter table accounts
  -- Mail accepted by any door. Null: as much as there is.
  add column sends_per_minute     integer check (sends_per_minute > 0),
  -- Calls but sendEmail. Null: the installation's default.
  add column calls_per_minute     integer check (calls_per_minute > 0);

-- What was taken out of an allowance in a window of time, by all processes. A process takes some at a time.
create table allowances (
  -- 'calls 12': of account 12; 'key 3'.
  name       text not null,
  starts_at  timestamptz not null,
  taken      integer not null,
  -- By the last statement, which reads it back.
  granted    integer not null,
  primary key (name, starts_at)
) with (fillfactor = 50);
-- Neither index has what an update changes, so a busy row stays on its page.
create index allowances_age on allowances (starts_at);
