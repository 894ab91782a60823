-- Templates get versions, one of them active, with a subject and declared variables; uploaded files get an order.

-- The active version as sends read it: one row by its key, whatever lies in the history.
alter table templates
  -- The number of the active version.
  add column version    integer not null default 1,
  -- Null: every send brings its own.
  add column subject    text,
  add column variables  jsonb not null default '[]';
create index templates_account on templates (account_id, id);

-- Every edition, the active one included: how a template looked when. The newest hundred are kept.
create table template_versions (
  template_id  integer not null references templates on delete cascade,
  number       integer not null,
  subject      text,
  content      text not null,
  variables    jsonb not null default '[]',
  created_at   timestamptz not null default service_now(),
  primary key (template_id, number)
);
insert into template_versions (template_id, number, content, created_at)
select id, 1, content, updated_at from templates;

create index attachments_page on attachments (account_id, id);
drop index attachments_account;
-- Files are mostly compressed already.
alter table attachments alter column content set storage external;
