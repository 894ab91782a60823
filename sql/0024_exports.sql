-- Dumps of an account's events: jobs, and the files they made.

create table export_jobs (
  id               bigint generated always as identity primary key,
  account_id       integer not null,
  state            text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  format           text not null check (format in ('json', 'csv')),
  -- The kinds of events wanted. None: all.
  kinds            text[] not null default '{}',
  -- The days asked for, and the moments they begin and end in the account's time zone.
  first_day        date not null,
  last_day         date not null,
  begins_at        timestamptz not null,
  ends_at          timestamptz not null,
  callback_url     text,
  email            text,
  -- Who asked for it.
  api_key_id       integer,
  client_address   inet,
  created_at       timestamptz not null default service_now(),
  finished_at      timestamptz,
  -- The file and the job go then.
  expires_at       timestamptz,
  -- All events up to this number are in the parts; those up to last_number will be. Null: not begun.
  position         bigint,
  last_number      bigint,
  rows             bigint not null default 0,
  parts            integer not null default 0,
  octets           bigint not null default 0,
  due_at           timestamptz not null default service_now(),
  failures         integer not null default 0,
  -- Why it failed, for the account.
  problem          text,
  -- When whoever asked is to be told, again if it must be. Null: there is nothing to tell.
  tell_at          timestamptz,
  tellings         integer not null default 0,
  callback_told    boolean not null default false,
  email_told       boolean not null default false
);
create index export_jobs_account on export_jobs (account_id, id);
create index export_jobs_due on export_jobs (due_at) where state in ('queued', 'running');
create index export_jobs_tell on export_jobs (tell_at) where tell_at is not null;
create index export_jobs_end on export_jobs (expires_at) where expires_at is not null;

-- A file in pieces, each compressed for itself (gzip), which together are one again (RFC 1952 2.2).
create table export_parts (
  job_id   bigint not null references export_jobs on delete cascade,
  number   integer not null,
  content  bytea not null,
  primary key (job_id, number)
);
alter table export_parts alter column content set storage external;

-- A person of the account was forgotten, and files tell of everybody: those that are finished go, those under way begin anew.
create function forget_export_files(of_account integer) returns void
language sql
as $$
  delete from export_jobs where account_id = of_account and state in ('done', 'failed');
  delete from export_parts where job_id in (select id from export_jobs where account_id = of_account);
  update export_jobs
     set position = null, last_number = null, rows = 0, parts = 0, octets = 0, due_at = service_now()
   where account_id = of_account;
$$;
