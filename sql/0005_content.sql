-- Stored content that messages refer to.

-- A v2 template, with the content of its active version: sending reads one row.
create table templates (
  id          integer generated always as identity primary key,
  account_id  integer not null references accounts,
  name        text not null,
  content     text not null,
  created_at  timestamptz not null default service_now(),
  updated_at  timestamptz not null default service_now(),
  -- The number of the active version.
  version     integer not null default 1,
  -- If null, each message has its own.
  subject     text,
  variables   jsonb not null default '[]'
);
create index templates_account on templates (account_id, id);
create unique index templates_name on templates (account_id, lower(name));

-- A version of a template, also the active one. Never changed; the newest hundred are kept.
create table template_versions (
  template_id  integer not null references templates on delete cascade,
  number       integer not null,
  subject      text,
  content      text not null,
  variables    jsonb not null default '[]',
  created_at   timestamptz not null default service_now(),
  primary key (template_id, number)
);

-- A template of v3, whose named versions are edited in place (docs/decisions/0011-editable-templates.md).
create table editable_templates (
  account_id  integer not null references accounts,
  -- A UUID; of a dynamic template `d-` and the digits without hyphens.
  id          text not null,
  -- legacy: tags are replaced; dynamic: rendered with data of any shape.
  generation  text not null check (generation in ('legacy', 'dynamic')),
  name        text not null,
  created_at  timestamptz not null default service_now(),
  updated_at  timestamptz not null default service_now(),
  primary key (account_id, id)
);
create index editable_templates_page on editable_templates (account_id, created_at desc, id);

-- A version of an editable template.
create table editable_versions (
  account_id      integer not null,
  template_id     text not null,
  id              uuid not null,
  active          boolean not null,
  name            text not null,
  subject         text not null,
  html            text not null,
  plain           text not null,
  -- The plain text is generated again whenever the HTML changes.
  generate_plain  boolean not null,
  editor          text not null check (editor in ('code', 'design')),
  -- JSON for previews.
  test_data       text,
  created_at      timestamptz not null default service_now(),
  updated_at      timestamptz not null default service_now(),
  primary key (account_id, template_id, id),
  constraint editable_versions_account_id_template_id_fkey foreign key (account_id, template_id) references editable_templates(account_id, id) on delete cascade
);
-- The version that is sent.
create unique index editable_versions_active on editable_versions (account_id, template_id) where active;

-- An uploaded file.
create table attachments (
  id          integer generated always as identity primary key,
  account_id  integer not null references accounts,
  file_name   text not null,
  content     bytea not null,
  created_at  timestamptz not null default service_now()
);
create index attachments_page on attachments (account_id, id);

-- Most files are compressed already.
alter table attachments alter column content set storage external;
