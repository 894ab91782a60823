-- Stored content that a submission names by id: templates and uploaded attachments.

create table templates (
  id          integer generated always as identity primary key,
  account_id  integer not null references accounts,
  name        text not null,
  content     text not null,
  created_at  timestamptz not null default service_now(),
  updated_at  timestamptz not null default service_now()
);
create unique index templates_name on templates (account_id, lower(name));

create table attachments (
  id          integer generated always as identity primary key,
  account_id  integer not null references accounts,
  file_name   text not null,
  content     bytea not null,
  created_at  timestamptz not null default service_now()
);
create index attachments_account on attachments (account_id);
