-- Templates whose named versions are edited in place and switched, as programs know them that move in. Apart from `templates`,
-- whose numbered versions never change: they share no column but the name.
create table editable_templates (
  account_id  integer not null references accounts,
  -- A UUID, with `d-` and no hyphens for a dynamic one: as programs name it.
  id          text not null,
  -- legacy: whole keys are replaced; dynamic: rendered with data of any shape (core/templates/dynamic).
  generation  text not null check (generation in ('legacy', 'dynamic')),
  name        text not null,
  created_at  timestamptz not null default service_now(),
  updated_at  timestamptz not null default service_now(),
  primary key (account_id, id)
);
create index editable_templates_page on editable_templates (account_id, created_at desc, id);

create table editable_versions (
  account_id      integer not null,
  template_id     text not null,
  id              uuid not null,
  active          boolean not null,
  name            text not null,
  subject         text not null,
  html            text not null,
  plain           text not null,
  -- The plain text is made from the HTML whenever that changes.
  generate_plain  boolean not null,
  editor          text not null check (editor in ('code', 'design')),
  -- JSON for previews; null: none.
  test_data       text,
  created_at      timestamptz not null default service_now(),
  updated_at      timestamptz not null default service_now(),
  primary key (account_id, template_id, id),
  foreign key (account_id, template_id) references editable_templates on delete cascade
);
-- What a send reads.
create unique index editable_versions_active on editable_versions (account_id, template_id) where active;
