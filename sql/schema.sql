-- The schema after all migrations, written from the catalogs of a migrated database by `npm run docs`: to be read, not to be run.
-- Changes are made in a new migration (sql/README.md). Partitions are left out: each has the columns and indexes of its parent.

create table account_counts (
  account_id integer not null,
  hour timestamptz not null,
  accepted integer not null,
  delivered integer not null,
  hard integer not null,
  soft integer not null,
  complained integer not null,
  deferred integer not null default 0,
  constraint account_counts_pkey primary key (account_id, hour)
) with (
  fillfactor = 50
);
create index account_counts_hour on account_counts (hour);

create table account_deletions (
  id integer not null generated always as identity,
  account_id integer not null,
  state text not null default 'planned'::text,
  grace_days integer not null,
  counts jsonb not null,
  created_at timestamptz not null default service_now(),
  confirmed_at timestamptz,
  remove_at timestamptz,
  due_at timestamptz,
  step text,
  position jsonb,
  removed jsonb not null default '{}'::jsonb,
  finished_at timestamptz,
  constraint account_deletions_pkey primary key (id),
  constraint account_deletions_grace_days_check check (grace_days >= 0 and grace_days <= 90),
  constraint account_deletions_state_check check (state = any (array['planned'::text, 'closed'::text, 'restored'::text, 'removing'::text, 'done'::text])),
  constraint account_deletions_account_id_fkey foreign key (account_id) references accounts(id)
);
create index account_deletions_due on account_deletions (due_at) where state = any (array['closed'::text, 'removing'::text]);
create unique index account_deletions_open on account_deletions (account_id) where state = any (array['closed'::text, 'removing'::text]);

create table account_holds (
  account_id integer not null,
  rule text not null,
  level text not null,
  classes smallint[] not null,
  rate integer,
  figures jsonb not null,
  reason text,
  since timestamptz not null,
  until timestamptz,
  good_since timestamptz,
  check_at timestamptz not null,
  constraint account_holds_pkey primary key (account_id, rule),
  constraint account_holds_level_check check (level = any (array['warned'::text, 'slowed'::text, 'held'::text])),
  constraint account_holds_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);
create index account_holds_check on account_holds (check_at);

create table account_notices (
  account_id integer not null,
  rule text not null,
  day date not null,
  level text not null,
  classes text[] not null,
  figures jsonb not null,
  created_at timestamptz not null default service_now(),
  state text not null default 'waiting'::text,
  due_at timestamptz not null default service_now(),
  tries smallint not null default 0,
  message_id uuid,
  constraint account_notices_pkey primary key (account_id, rule, day),
  constraint account_notices_state_check check (state = any (array['waiting'::text, 'sent'::text, 'off'::text, 'no-address'::text, 'failed'::text])),
  constraint account_notices_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);
create index account_notices_created on account_notices (created_at);
create index account_notices_due on account_notices (due_at) where state = 'waiting'::text;

create table account_reputation (
  account_id integer not null,
  rules text,
  since timestamptz,
  base jsonb,
  constraint account_reputation_pkey primary key (account_id),
  constraint account_reputation_rules_check check (rules = any (array['none'::text, 'standard'::text, 'strict'::text])),
  constraint account_reputation_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);

create table accounts (
  id integer not null generated always as identity,
  name text not null,
  state text not null default 'active'::text,
  expires_at timestamptz,
  created_at timestamptz not null default service_now(),
  parent_id integer,
  username text,
  email text,
  password text,
  deleted_at timestamptz,
  sends_per_minute integer,
  calls_per_minute integer,
  open_tracking boolean not null default true,
  click_tracking boolean not null default true,
  unsubscribe_link boolean not null default false,
  footer_html text,
  footer_text text,
  privacy_mode boolean not null default false,
  time_zone text not null default 'UTC'::text,
  event_days integer,
  body_days integer,
  mail_class text,
  trial_address text,
  account_notices boolean not null default true,
  feed_read_at timestamptz,
  hosts_may_send boolean not null default false,
  fallback_sender text,
  generate_text boolean not null default true,
  mail_reports boolean not null default false,
  requirements text,
  closed_at timestamptz,
  muted_notices text[] not null default '{}'::text[],
  keep_content boolean not null default true,
  constraint accounts_pkey primary key (id),
  constraint accounts_calls_per_minute_check check (calls_per_minute > 0),
  constraint accounts_name_check check (name <> ''::text),
  constraint accounts_sends_per_minute_check check (sends_per_minute > 0),
  constraint accounts_state_check check (state = any (array['active'::text, 'suspended'::text, 'deleted'::text])),
  constraint accounts_subaccount check ((parent_id is null) = (username is null)),
  constraint accounts_time_zone check (is_time_zone(time_zone)),
  constraint accounts_parent_id_fkey foreign key (parent_id) references accounts(id)
);
create index accounts_closed on accounts (id) where closed_at is not null;
create unique index accounts_name on accounts (lower(name)) where deleted_at is null;
create index accounts_requirements on accounts (requirements) where requirements is not null;
create unique index accounts_username on accounts (parent_id, lower(username)) where deleted_at is null;

create table allowances (
  name text not null,
  starts_at timestamptz not null,
  taken integer not null,
  granted integer not null,
  constraint allowances_pkey primary key (name, starts_at)
) with (
  fillfactor = 50
);
create index allowances_age on allowances (starts_at);

create table api_keys (
  id integer not null generated always as identity,
  account_id integer not null,
  name text not null default ''::text,
  prefix text not null,
  hash bytea not null,
  scopes text[] not null default '{all}'::text[],
  networks cidr[] not null default '{}'::cidr[],
  created_at timestamptz not null default service_now(),
  revoked_at timestamptz,
  templates integer[],
  sender_domains text[],
  recipient_domains text[],
  recipients_per_hour integer,
  calls_per_minute integer,
  expires_at timestamptz,
  counts_with integer,
  replaced_by integer,
  last_used_at timestamptz,
  v3_rights text[],
  mail_class text,
  expiry_told timestamptz,
  keep_content boolean,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_calls_per_minute_check check (calls_per_minute > 0),
  constraint api_keys_keep_content_check check (not keep_content),
  constraint api_keys_recipient_domains_check check (cardinality(recipient_domains) > 0),
  constraint api_keys_recipients_per_hour_check check (recipients_per_hour > 0),
  constraint api_keys_sender_domains_check check (cardinality(sender_domains) > 0),
  constraint api_keys_templates_check check (cardinality(templates) > 0),
  constraint api_keys_account_id_fkey foreign key (account_id) references accounts(id)
);
create index api_keys_account on api_keys (account_id);
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and revoked_at is null;
create unique index api_keys_hash on api_keys (hash);

create table attachments (
  id integer not null generated always as identity,
  account_id integer not null,
  file_name text not null,
  content bytea storage external not null,
  created_at timestamptz not null default service_now(),
  constraint attachments_pkey primary key (id),
  constraint attachments_account_id_fkey foreign key (account_id) references accounts(id)
);
create index attachments_page on attachments (account_id, id);

create table attempts (
  message_id uuid not null,
  recipient_no integer not null,
  attempt integer not null,
  account_id integer not null,
  worker_id integer not null,
  outcome text not null,
  indeterminate boolean not null default false,
  started_at timestamptz not null,
  milliseconds integer not null,
  stage text,
  host text,
  address text,
  tls text,
  code smallint,
  enhanced text,
  reply text,
  conversation json,
  place text,
  tls_policy text,
  tls_verified boolean,
  tls_origin text,
  blocked boolean,
  constraint attempts_pkey primary key (message_id, recipient_no, attempt),
  constraint attempts_outcome_check check (outcome = any (array['delivered'::text, 'deferred'::text, 'bounced'::text, 'abandoned'::text]))
) partition by range (message_id);

create table audit_log (
  account_id integer not null,
  number bigint not null,
  at timestamptz not null,
  actor_key_id integer,
  actor_address inet,
  action text not null,
  object text not null,
  before jsonb,
  after jsonb,
  previous_hash bytea not null,
  hash bytea not null,
  actor_user_id integer,
  version smallint not null default 1,
  agent text,
  constraint audit_log_pkey primary key (account_id, number)
);
create trigger audit_log_append_only before update or truncate on audit_log for each statement execute function refuse_change();
create trigger audit_log_removal before delete on audit_log for each row execute function refuse_deletion();

create table batch_messages (
  account_id integer not null,
  batch_id text not null,
  message_id uuid not null,
  constraint batch_messages_pkey primary key (account_id, batch_id, message_id)
);

create table batches (
  account_id integer not null,
  id text not null,
  state text,
  created_at timestamptz not null default service_now(),
  constraint batches_pkey primary key (account_id, id),
  constraint batches_state_check check (state = any (array['pause'::text, 'cancel'::text])),
  constraint batches_account_id_fkey foreign key (account_id) references accounts(id)
);
create index batches_age on batches (created_at);
create index batches_state on batches (account_id, created_at, id) where state is not null;

create table bodies (
  message_id uuid not null,
  part integer not null,
  encoding text not null,
  content bytea storage external not null,
  digest integer,
  object_length integer,
  constraint bodies_pkey primary key (message_id, part),
  constraint bodies_encoding_check check (encoding = any (array['deflate'::text, 'raw'::text]))
) partition by range (message_id);

create table cleared_failures (
  account_id integer not null,
  kind text not null,
  address text not null,
  until timestamptz not null default service_now(),
  constraint cleared_failures_pkey primary key (account_id, kind, address)
);
create index cleared_failures_until on cleared_failures (until);

create unlogged table connection_slots (
  place text not null,
  no integer not null,
  worker_id integer not null,
  constraint connection_slots_pkey primary key (place, no)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

create unlogged table connection_slots_since (
  only_row boolean not null default true,
  since timestamptz not null,
  constraint connection_slots_since_pkey primary key (only_row),
  constraint connection_slots_since_only_row_check check (only_row)
);

create table credit_balances (
  account_id integer not null,
  balance bigint not null default 0,
  recurring_amount bigint,
  recurring_every text,
  recurring_from date,
  recurring_until date,
  recurring_active boolean not null default false,
  period integer,
  period_used bigint not null default 0,
  granted bigint,
  granted_at timestamptz,
  constraint credit_balances_pkey primary key (account_id),
  constraint credit_balances_balance_check check (balance >= 0 and balance <= '9007199254740991'::bigint),
  constraint credit_balances_period_used_check check (period_used >= 0),
  constraint credit_balances_recurring check (num_nulls(recurring_amount, recurring_every, recurring_from, recurring_until) = any (array[0, 4])),
  constraint credit_balances_recurring_amount_check check (recurring_amount >= 0),
  constraint credit_balances_recurring_every_check check (recurring_every = any (array['day'::text, 'week'::text, 'month'::text]))
) with (
  fillfactor = 40
);

create table credit_notices (
  account_id integer not null,
  granted_at timestamptz not null,
  period integer not null,
  state text not null default 'waiting'::text,
  created_at timestamptz not null default service_now(),
  due_at timestamptz not null default service_now(),
  tries smallint not null default 0,
  constraint credit_notices_pkey primary key (account_id),
  constraint credit_notices_state_check check (state = any (array['waiting'::text, 'sent'::text, 'off'::text, 'no-owner'::text, 'refilled'::text, 'failed'::text])),
  constraint credit_notices_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);
create index credit_notices_due on credit_notices (due_at) where state = 'waiting'::text;

create table credit_usage (
  account_id integer not null,
  day date not null,
  slot smallint not null,
  used bigint not null,
  constraint credit_usage_pkey primary key (account_id, day, slot)
) with (
  fillfactor = 40,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create table delivery_counts (
  account_id integer not null,
  hour timestamptz not null,
  domain_id integer not null,
  class smallint not null,
  provider text not null,
  source text not null,
  accepted integer not null,
  attempts integer not null,
  delivered integer not null,
  deferred integer not null,
  hard integer not null,
  soft integer not null,
  blocked integer not null,
  late integer not null,
  complained integer not null,
  unsubscribed integer not null,
  blocked_deferred integer not null default 0,
  constraint delivery_counts_pkey primary key (account_id, hour, domain_id, class, provider, source)
) with (
  fillfactor = 50
);
create index delivery_counts_complained on delivery_counts (hour) where complained > 0;
create index delivery_counts_hour on delivery_counts (hour);
create index delivery_counts_hourly on delivery_counts (hour) where extract(hour from (hour at time zone 'UTC'::text)) <> 0::numeric;
create index delivery_counts_provider on delivery_counts (provider, hour);

create table delivery_queue (
  message_id uuid not null,
  recipient_no integer not null,
  account_id integer not null,
  state text not null,
  recipient text not null,
  recipient_key text not null,
  recipient_domain text not null,
  kind text not null,
  reference text,
  personal jsonb,
  next_at timestamptz not null,
  expires_at timestamptz not null,
  attempt integer not null default 0,
  worker_id integer,
  abandoned integer not null default 0,
  dot_at timestamptz,
  dot_host text,
  only_host text,
  group_id integer,
  bypass text[],
  alone boolean not null default false,
  blamed smallint not null default 0,
  set_aside text,
  class smallint not null default 1,
  place text,
  waiting_for text,
  held_next_at timestamptz,
  pool_id integer,
  next_host text,
  unreached text,
  last_place text,
  constraint delivery_queue_pkey primary key (message_id, recipient_no),
  constraint delivery_queue_kind_check check (kind = any (array['to'::text, 'cc'::text, 'bcc'::text])),
  constraint delivery_queue_state_check check (state = any (array['scheduled'::text, 'queued'::text, 'deferred'::text, 'sending'::text]))
) with (
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000,
  vacuum_truncate = false
);
create index delivery_queue_flow on delivery_queue (account_id, class, next_at) where worker_id is null;
create index delivery_queue_listed on delivery_queue (account_id, message_id, recipient_no) where worker_id is null;
create index delivery_queue_parked on delivery_queue (place, class, account_id, next_at) where worker_id is null and place is not null;
create index delivery_queue_person on delivery_queue (hashtextextended(recipient_key, account_id::bigint)) where worker_id is null;
create index delivery_queue_set_aside on delivery_queue (message_id, recipient_no) where set_aside is not null;
create index delivery_queue_unreached on delivery_queue (unreached, class, message_id) where worker_id is null and unreached is not null;
create index delivery_queue_worker on delivery_queue (worker_id) where worker_id is not null;

create unlogged table destination_offers (
  place text not null,
  minute timestamptz not null,
  account_id integer not null,
  domain_id integer not null,
  offered integer not null,
  service integer not null,
  message integer not null,
  authentication integer not null,
  recipients integer[] not null,
  constraint destination_offers_pkey primary key (place, minute, account_id, domain_id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000
);

create unlogged table destination_refusals (
  since timestamptz not null,
  place text not null,
  class text not null,
  permanent integer not null,
  for_now integer not null,
  reply text not null,
  at timestamptz not null,
  constraint destination_refusals_pkey primary key (since, place, class)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000
);

create table dkim_ed25519_keys (
  id integer not null generated always as identity,
  domain_id integer not null,
  selector text not null,
  public_key bytea not null,
  private_key bytea not null,
  state text not null default 'next'::text,
  created_at timestamptz not null default service_now(),
  retire_at timestamptz,
  constraint dkim_ed25519_keys_pkey primary key (id),
  constraint dkim_ed25519_keys_domain_id_selector_key unique (domain_id, selector),
  constraint dkim_ed25519_keys_state_check check (state = any (array['next'::text, 'active'::text, 'retiring'::text, 'retired'::text])),
  constraint dkim_ed25519_keys_domain_id_fkey foreign key (domain_id) references domains(id) on delete cascade
);
create unique index dkim_ed25519_keys_current on dkim_ed25519_keys (domain_id, state) where state = any (array['next'::text, 'active'::text]);

create table dkim_keys (
  id integer not null generated always as identity,
  domain_id integer not null,
  selector text not null,
  public_key bytea not null,
  private_key bytea not null,
  state text not null default 'active'::text,
  created_at timestamptz not null default service_now(),
  retire_at timestamptz,
  constraint dkim_keys_pkey primary key (id),
  constraint dkim_keys_domain_id_selector_key unique (domain_id, selector),
  constraint dkim_keys_state_check check (state = any (array['next'::text, 'active'::text, 'retiring'::text, 'retired'::text])),
  constraint dkim_keys_domain_id_fkey foreign key (domain_id) references domains(id) on delete cascade
);
create unique index dkim_keys_current on dkim_keys (domain_id, state) where state = any (array['next'::text, 'active'::text]);

create table dmarc_reports (
  id uuid not null default uuidv7(),
  domain_id integer not null,
  account_id integer not null,
  policy_domain text not null,
  organization text not null,
  report_id text not null,
  begin_at timestamptz not null,
  end_at timestamptz not null,
  policy jsonb not null,
  reporter text not null,
  authenticated boolean not null,
  received_at timestamptz not null default service_now(),
  rows integer not null,
  messages bigint not null,
  aligned bigint not null,
  ours bigint not null,
  ours_aligned bigint not null,
  constraint dmarc_reports_pkey primary key (id),
  constraint dmarc_reports_domain_id_fkey foreign key (domain_id) references domains(id) on delete cascade
);
create index dmarc_reports_by_account on dmarc_reports (account_id);
create index dmarc_reports_by_domain on dmarc_reports (domain_id, received_at);
create index dmarc_reports_by_time on dmarc_reports (received_at);
create unique index dmarc_reports_once on dmarc_reports (domain_id, authenticated, reporter, organization, report_id, policy_domain);

create table dmarc_rows (
  report uuid not null,
  no integer not null,
  count bigint not null,
  source_ip inet,
  disposition text,
  dkim boolean,
  spf boolean,
  header_from text,
  ours boolean,
  constraint dmarc_rows_pkey primary key (report, no),
  constraint dmarc_rows_report_fkey foreign key (report) references dmarc_reports(id) on delete cascade
);

create table domain_findings (
  domain_id integer not null,
  place text not null,
  code text not null,
  reply text not null,
  count integer not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  constraint domain_findings_pkey primary key (domain_id, place, code),
  constraint domain_findings_domain_id_fkey foreign key (domain_id) references domains(id) on delete cascade
);

create table domain_guards (
  domain_id integer not null,
  dmarc jsonb not null,
  organisational text not null,
  checked_at timestamptz not null,
  warned_at timestamptz,
  lacks text[],
  lacking_since timestamptz,
  name_servers text[],
  constraint domain_guards_pkey primary key (domain_id),
  constraint domain_guards_domain_id_fkey foreign key (domain_id) references domains(id) on delete cascade
);
create index domain_guards_lacking on domain_guards (domain_id) where lacks <> '{}'::text[];

create table domains (
  id integer not null generated always as identity,
  account_id integer not null,
  name text not null,
  state text not null default 'pending'::text,
  return_path_host text,
  created_at timestamptz not null default service_now(),
  envelope_name text,
  shared boolean not null default false,
  deleted_at timestamptz,
  records jsonb not null default '{}'::jsonb,
  checked_at timestamptz,
  verified_at timestamptz,
  broken_since timestamptz,
  check_at timestamptz not null default service_now() + '01:00:00'::interval,
  claim_ends_at timestamptz,
  activated_at timestamptz,
  ed25519 boolean not null default false,
  constraint domains_pkey primary key (id),
  constraint domains_state_check check (state = any (array['pending'::text, 'active'::text, 'inactive'::text, 'rejected'::text])),
  constraint domains_account_id_fkey foreign key (account_id) references accounts(id)
);
create unique index domains_account on domains (account_id, name) where deleted_at is null;
create index domains_claims on domains (account_id) where deleted_at is null and state = 'pending'::text;
create index domains_due on domains (check_at) where deleted_at is null;
create index domains_every_name on domains (name);
create unique index domains_held on domains (name) where deleted_at is null and state <> 'pending'::text;

create table editable_templates (
  account_id integer not null,
  id text not null,
  generation text not null,
  name text not null,
  created_at timestamptz not null default service_now(),
  updated_at timestamptz not null default service_now(),
  constraint editable_templates_pkey primary key (account_id, id),
  constraint editable_templates_generation_check check (generation = any (array['legacy'::text, 'dynamic'::text])),
  constraint editable_templates_account_id_fkey foreign key (account_id) references accounts(id)
);
create index editable_templates_page on editable_templates (account_id, created_at desc, id);

create table editable_versions (
  account_id integer not null,
  template_id text not null,
  id uuid not null,
  active boolean not null,
  name text not null,
  subject text not null,
  html text not null,
  plain text not null,
  generate_plain boolean not null,
  editor text not null,
  test_data text,
  created_at timestamptz not null default service_now(),
  updated_at timestamptz not null default service_now(),
  problem text,
  constraint editable_versions_pkey primary key (account_id, template_id, id),
  constraint editable_versions_editor_check check (editor = any (array['code'::text, 'design'::text])),
  constraint editable_versions_account_id_template_id_fkey foreign key (account_id, template_id) references editable_templates(account_id, id) on delete cascade
);
create unique index editable_versions_active on editable_versions (account_id, template_id) where active;

create table engagements (
  message_id uuid not null,
  recipient_no integer not null,
  kind text not null,
  machine boolean not null,
  total integer not null,
  hour timestamptz not null,
  in_hour integer not null,
  constraint engagements_pkey primary key (message_id, recipient_no, kind, machine),
  constraint engagements_kind_check check (kind = any (array['opened'::text, 'clicked'::text]))
) partition by range (message_id);

create table event_cursors (
  name text not null,
  transaction xid8 not null,
  moved_at timestamptz not null default service_now(),
  transaction_offset bigint not null default 0,
  constraint event_cursors_pkey primary key (name)
);

create table event_epoch_starts (
  account_id integer not null,
  epoch integer not null,
  last_number bigint not null,
  constraint event_epoch_starts_pkey primary key (account_id, epoch),
  constraint event_epoch_starts_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade,
  constraint event_epoch_starts_epoch_fkey foreign key (epoch) references event_epochs(number)
);

create table event_epochs (
  number integer not null,
  began_at timestamptz not null default service_now(),
  restored_to timestamptz,
  constraint event_epochs_pkey primary key (number),
  constraint event_epochs_number_check check (number > 1)
);

create table event_pages (
  account_id integer not null,
  first_number bigint not null,
  count integer not null,
  week timestamptz not null,
  after_transaction xid8 not null,
  to_transaction xid8 not null,
  earliest timestamptz,
  latest timestamptz,
  timed integer,
  constraint event_pages_pkey primary key (account_id, first_number)
) with (
  fillfactor = 70
);

create table events (
  id bigint not null default nextval('event_numbers'::regclass),
  occurred_at timestamptz not null,
  account_id integer not null,
  type text not null,
  message_id uuid,
  recipient_no integer,
  detail jsonb,
  transaction xid8 not null default pg_current_xact_id(),
  constraint events_type_check check (type = any (array['processed'::text, 'sent'::text, 'deferred'::text, 'bounced'::text, 'dropped'::text, 'invalid'::text, 'expired'::text, 'opened'::text, 'clicked'::text, 'unsubscribed'::text, 'resubscribed'::text, 'complained'::text, 'domain'::text, 'account'::text, 'domain_inactive'::text, 'webhook_disabled'::text, 'key_expiring'::text])) not valid
) partition by range (occurred_at);
create index events_account on events (account_id, transaction);
create index events_hard_bounces on events (account_id, message_id, recipient_no, occurred_at) where type = 'bounced'::text and ((detail ->> 'class'::text) = any (array['bad-mailbox'::text, 'bad-domain'::text, 'moved'::text, 'not-accepting'::text])) and not coalesce(detail ? 'machine'::text, false);
create index events_message on events (message_id);
create index events_notable on events (account_id, type, message_id, recipient_no, occurred_at) where (type = any (array['bounced'::text, 'expired'::text, 'dropped'::text, 'invalid'::text, 'opened'::text, 'clicked'::text, 'unsubscribed'::text, 'complained'::text])) and not coalesce(detail ? 'machine'::text, false);
create index events_soft_bounces on events (account_id, message_id, recipient_no, occurred_at) where (type = 'expired'::text or type = 'bounced'::text and (coalesce(detail ->> 'class'::text, ''::text) <> all (array['bad-mailbox'::text, 'bad-domain'::text, 'moved'::text, 'not-accepting'::text]))) and not coalesce(detail ? 'machine'::text, false);
create index events_transaction on events (transaction);
create trigger events_refuse_late before insert on events for each statement when (current_setting('application_name'::text) !~~ 'postrider %'::text) execute function refuse_late_events();

create table export_jobs (
  id bigint not null generated always as identity,
  account_id integer not null,
  state text not null default 'queued'::text,
  format text not null,
  kinds text[] not null default '{}'::text[],
  first_day date not null,
  last_day date not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  callback_url text,
  email text,
  api_key_id integer,
  client_address inet,
  created_at timestamptz not null default service_now(),
  finished_at timestamptz,
  expires_at timestamptz,
  position bigint,
  last_number bigint,
  rows bigint not null default 0,
  parts integer not null default 0,
  octets bigint not null default 0,
  due_at timestamptz not null default service_now(),
  failures integer not null default 0,
  problem text,
  tell_at timestamptz,
  tellings integer not null default 0,
  callback_told boolean not null default false,
  email_told boolean not null default false,
  public_id uuid not null default gen_random_uuid(),
  constraint export_jobs_pkey primary key (id),
  constraint export_jobs_format_check check (format = any (array['json'::text, 'csv'::text])),
  constraint export_jobs_state_check check (state = any (array['queued'::text, 'running'::text, 'done'::text, 'failed'::text]))
);
create index export_jobs_account on export_jobs (account_id, id);
create index export_jobs_due on export_jobs (due_at) where state = any (array['queued'::text, 'running'::text]);
create index export_jobs_end on export_jobs (expires_at) where expires_at is not null;
create unique index export_jobs_public on export_jobs (public_id);
create index export_jobs_tell on export_jobs (tell_at) where tell_at is not null;

create table export_parts (
  job_id bigint not null,
  number integer not null,
  content bytea storage external not null,
  constraint export_parts_pkey primary key (job_id, number),
  constraint export_parts_job_id_fkey foreign key (job_id) references export_jobs(id) on delete cascade
);

create table finished_deliveries (
  message_id uuid not null,
  recipient_no integer not null,
  account_id integer not null,
  state text not null,
  recipient text not null,
  recipient_key text not null,
  recipient_domain text not null,
  kind text not null,
  reference text,
  personal jsonb,
  attempt integer not null,
  reason text,
  finished_at timestamptz not null,
  constraint finished_deliveries_pkey primary key (message_id, recipient_no),
  constraint finished_deliveries_state_check check (state = any (array['delivered'::text, 'bounced'::text, 'dropped'::text, 'expired'::text]))
) partition by range (message_id);
create index finished_deliveries_person on finished_deliveries (hashtextextended(recipient_key, account_id::bigint));

create unlogged table flow_progress (
  place text not null,
  account_id integer not null,
  class smallint not null,
  since timestamptz not null,
  tried integer not null,
  constraint flow_progress_pkey primary key (place, account_id, class, since)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000
);

create table forget_messages (
  request_id uuid not null,
  subject_no integer not null,
  message_id uuid not null,
  held boolean not null default true,
  looked_at timestamptz,
  constraint forget_messages_pkey primary key (request_id, subject_no, message_id),
  constraint forget_messages_request_id_fkey foreign key (request_id) references forget_requests(id)
);
create index forget_messages_round on forget_messages (request_id, looked_at nulls first);

create table forget_requests (
  id uuid not null,
  account_id integer not null,
  emails integer not null,
  state text not null default 'queued'::text,
  requested_at timestamptz not null default service_now(),
  completed_at timestamptz,
  sealed bytea,
  stage text not null default 'suppressions'::text,
  queue_message uuid,
  queue_recipient integer,
  subject_no integer not null default 0,
  receipt jsonb not null default '{}'::jsonb,
  due_at timestamptz not null default service_now(),
  transaction xid8 not null default pg_current_xact_id(),
  batch_size integer not null default 200,
  constraint forget_requests_pkey primary key (id),
  constraint forget_requests_batch_size_check check (batch_size > 0),
  constraint forget_requests_check check ((state = 'done'::text) = (sealed is null)),
  constraint forget_requests_stage_check check (stage = any (array['suppressions'::text, 'queue'::text, 'finished'::text, 'waiting'::text, 'last'::text])),
  constraint forget_requests_state_check check (state = any (array['queued'::text, 'running'::text, 'done'::text])),
  constraint forget_requests_account_id_fkey foreign key (account_id) references accounts(id)
);
create index forget_requests_account on forget_requests (account_id, requested_at, id);
create index forget_requests_due on forget_requests (due_at) where state <> 'done'::text;

create table forgotten (
  account_id integer not null,
  hash bytea not null,
  group_id integer not null default 0,
  reason text not null,
  since timestamptz not null,
  held_until timestamptz,
  unsubscribed_since timestamptz,
  constraint forgotten_pkey primary key (account_id, hash, group_id),
  constraint forgotten_account_id_fkey foreign key (account_id) references accounts(id)
);

create table forgotten_accounts (
  account_id integer not null,
  since timestamptz not null default service_now(),
  constraint forgotten_accounts_pkey primary key (account_id),
  constraint forgotten_accounts_account_id_fkey foreign key (account_id) references accounts(id)
);

create table hits (
  id uuid not null,
  at timestamptz not null,
  account_id integer not null,
  message_id uuid not null,
  recipient_no integer not null,
  kind text not null,
  link integer,
  url text,
  ip text,
  user_agent text,
  machine text,
  rules smallint not null,
  constraint hits_pkey primary key (id),
  constraint hits_kind_check check (kind = any (array['opened'::text, 'clicked'::text]))
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
);
create index hits_at on hits (at);
create index hits_delivery on hits (message_id, recipient_no);

create table idempotency_keys (
  account_id integer not null,
  key text not null,
  fingerprint bytea not null,
  message_id uuid not null,
  created_at timestamptz not null,
  constraint idempotency_keys_pkey primary key (account_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
create index idempotency_keys_message on idempotency_keys (message_id);

create table instance (
  name text not null,
  value text not null,
  constraint instance_pkey primary key (name)
);

create table invitations (
  id integer not null generated always as identity,
  hash bytea not null,
  account_id integer not null,
  role text not null,
  email text not null,
  email_key text not null,
  invited_by integer,
  created_at timestamptz not null default service_now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  mailed boolean not null default false,
  constraint invitations_pkey primary key (id),
  constraint invitations_hash_key unique (hash),
  constraint invitations_role_check check (role = any (array['owner'::text, 'developer'::text, 'support'::text, 'viewer'::text])),
  constraint invitations_account_id_fkey foreign key (account_id) references accounts(id),
  constraint invitations_invited_by_fkey foreign key (invited_by) references users(id) on delete set null
);
create index invitations_account on invitations (account_id, id);
create index invitations_email on invitations (email_key) where accepted_at is null and revoked_at is null;

create table known_networks (
  user_id integer not null,
  network cidr not null,
  seen_at timestamptz not null default service_now(),
  constraint known_networks_pkey primary key (user_id, network),
  constraint known_networks_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index known_networks_age on known_networks (seen_at);

create table limit_overrides (
  id bigint not null generated always as identity,
  place text not null,
  account_id integer,
  setting text not null,
  value integer,
  seconds integer,
  rule text not null,
  reason text not null,
  since timestamptz not null,
  until timestamptz not null,
  step_at timestamptz,
  constraint limit_overrides_pkey primary key (id),
  constraint limit_overrides_place_account_id_setting_rule_key unique nulls not distinct (place, account_id, setting, rule),
  constraint limit_overrides_setting_check check (setting = any (array['pause'::text, 'rate'::text, 'connections'::text, 'messagesPerConnection'::text]))
);

create table memberships (
  account_id integer not null,
  user_id integer not null,
  role text not null,
  created_at timestamptz not null default service_now(),
  constraint memberships_pkey primary key (account_id, user_id),
  constraint memberships_role_check check (role = any (array['owner'::text, 'developer'::text, 'support'::text, 'viewer'::text])),
  constraint memberships_account_id_fkey foreign key (account_id) references accounts(id),
  constraint memberships_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index memberships_user on memberships (user_id);

create table messages (
  id uuid not null,
  account_id integer not null,
  domain_id integer not null,
  api_key_id integer,
  door text not null,
  accepted_at timestamptz not null,
  scheduled_at timestamptz,
  from_address text not null,
  subject text not null,
  tags text[] not null default '{}'::text[],
  settings jsonb not null default '{}'::jsonb,
  client_address inet,
  format text not null,
  size integer not null,
  parts integer not null,
  recipients integer not null,
  null_return_path boolean not null default false,
  transaction_base bigint not null,
  constraint messages_pkey primary key (id),
  constraint messages_door_check check (door = any (array['v2'::text, 'v3'::text, 'smtp'::text])),
  constraint messages_format_check check (format = any (array['mime'::text, 'content'::text]))
) partition by range (id);
create index messages_account on messages (account_id, id) include (recipients);
create index messages_resent on messages ((settings ->> 'resentFrom'::text)) where settings ? 'resentFrom'::text;

create table mta_sts_policies (
  domain text not null,
  policy_id text,
  mode text not null,
  mx text[] not null default '{}'::text[],
  max_age integer not null default 0,
  fetched_at timestamptz,
  expires_at timestamptz,
  used_at timestamptz not null,
  error text,
  failures integer not null default 0,
  retry_at timestamptz,
  constraint mta_sts_policies_pkey primary key (domain),
  constraint mta_sts_policies_mode_check check (mode = any (array['none'::text, 'testing'::text, 'enforce'::text]))
);
create index mta_sts_policies_unused on mta_sts_policies (used_at);

create table object_removals (
  key text not null,
  noted_at timestamptz not null default service_now(),
  due_at timestamptz not null default service_now(),
  constraint object_removals_pkey primary key (key)
);
create index object_removals_due on object_removals (due_at);
create index object_removals_noted on object_removals (noted_at);

create table object_sweep (
  owner uuid not null default gen_random_uuid(),
  day date not null default (service_now() at time zone 'UTC'::text)::date - 7,
  after text not null default ''::text,
  due_at timestamptz not null default service_now(),
  id boolean not null default true,
  constraint object_sweep_pkey primary key (id),
  constraint object_sweep_id_check check (id)
);

create table one_time_links (
  hash bytea not null,
  purpose text not null,
  user_id integer,
  account_id integer,
  data jsonb not null default '{}'::jsonb,
  created_at timestamptz not null default service_now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint one_time_links_pkey primary key (hash),
  constraint one_time_links_account_id_fkey foreign key (account_id) references accounts(id),
  constraint one_time_links_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index one_time_links_expiry on one_time_links (expires_at);
create index one_time_links_user on one_time_links (user_id) where user_id is not null;

create table operator_keys (
  id integer not null default nextval('api_keys_id_seq'::regclass),
  name text not null default ''::text,
  prefix text not null,
  hash bytea not null,
  networks cidr[] not null default '{}'::cidr[],
  created_at timestamptz not null default service_now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint operator_keys_pkey primary key (id),
  constraint operator_keys_hash_key unique (hash)
);

create table operators (
  user_id integer not null,
  created_at timestamptz not null default service_now(),
  constraint operators_pkey primary key (user_id),
  constraint operators_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);

create table owner_notice_mails (
  account_id integer not null,
  bundle integer not null default 0,
  due_at timestamptz,
  tries smallint not null default 0,
  begun_at timestamptz,
  next_at timestamptz,
  constraint owner_notice_mails_pkey primary key (account_id),
  constraint owner_notice_mails_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);
create index owner_notice_mails_due on owner_notice_mails (due_at) where due_at is not null;

create table owner_notices (
  account_id integer not null,
  kind text not null,
  subject text not null,
  mark text not null,
  detail jsonb not null,
  created_at timestamptz not null default service_now(),
  state text not null default 'waiting'::text,
  bundle integer,
  constraint owner_notices_pkey primary key (account_id, kind, subject),
  constraint owner_notices_state_check check (state = any (array['waiting'::text, 'sent'::text, 'off'::text, 'over'::text, 'no-address'::text, 'failed'::text])),
  constraint owner_notices_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);
create index owner_notices_age on owner_notices (created_at);

create table passkeys (
  credential_id text not null,
  user_id integer not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}'::text[],
  name text not null,
  created_at timestamptz not null default service_now(),
  used_at timestamptz,
  constraint passkeys_pkey primary key (credential_id),
  constraint passkeys_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index passkeys_user on passkeys (user_id);

create table past_limits (
  id bigint not null generated always as identity,
  place text,
  account_id integer,
  setting text not null,
  value integer,
  seconds integer,
  rule text not null,
  since timestamptz not null,
  until timestamptz not null,
  constraint past_limits_pkey primary key (id)
);
create index past_limits_until on past_limits (until);

create table pool_rules (
  id integer not null generated always as identity,
  position integer not null,
  pool_id integer not null,
  account_id integer,
  class smallint,
  sending_domain text,
  tag text,
  constraint pool_rules_pkey primary key (id),
  constraint pool_rules_account_id_fkey foreign key (account_id) references accounts(id),
  constraint pool_rules_pool_id_fkey foreign key (pool_id) references pools(id) on delete cascade
);

create table pools (
  id integer not null generated always as identity,
  name text not null,
  fallback_id integer,
  reserved boolean not null default false,
  created_at timestamptz not null default service_now(),
  constraint pools_pkey primary key (id),
  constraint pools_name_key unique (name),
  constraint pools_fallback_id_fkey foreign key (fallback_id) references pools(id)
);

create table processes (
  id uuid not null default uuidv7(),
  program text not null,
  host text not null,
  pid integer not null,
  version text not null,
  memory bigint not null,
  started_at timestamptz not null default service_now(),
  seen_at timestamptz not null default service_now(),
  constraint processes_pkey primary key (id)
);

create table provider_counts (
  account_id integer not null,
  hour timestamptz not null,
  provider text not null,
  attempts integer not null,
  blocked_deferred integer not null,
  constraint provider_counts_pkey primary key (account_id, hour, provider)
);
create index provider_counts_hour on provider_counts (hour);

create table provider_figures (
  provider text not null,
  subject text not null,
  day date not null,
  name text not null,
  value text not null,
  imported_at timestamptz not null default service_now(),
  constraint provider_figures_pkey primary key (provider, subject, day, name)
);
create index provider_figures_day on provider_figures (day);

create table queue_jobs (
  id bigint not null generated always as identity,
  action text not null,
  filter jsonb not null,
  state text not null default 'planned'::text,
  planned bigint not null,
  partial boolean not null,
  created_at timestamptz not null default service_now(),
  confirmed_at timestamptz,
  finished_at timestamptz,
  message_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  recipient_no integer not null default '-1'::integer,
  end_id uuid,
  done bigint not null default 0,
  accounts jsonb not null default '{}'::jsonb,
  account_id integer not null default 0,
  constraint queue_jobs_pkey primary key (id),
  constraint queue_jobs_action_check check (action = any (array['flush'::text, 'fail'::text, 'hold'::text, 'release'::text, 'reroute'::text, 'requeue'::text])),
  constraint queue_jobs_state_check check (state = any (array['planned'::text, 'running'::text, 'done'::text, 'stopped'::text]))
);
create index queue_jobs_running on queue_jobs (id) where state = 'running'::text;

create table recipient_holds (
  account_id integer not null,
  recipient bigint not null,
  since timestamptz not null,
  until timestamptz not null,
  constraint recipient_holds_pkey primary key (account_id, recipient),
  constraint recipient_holds_account_id_fkey foreign key (account_id) references accounts(id) on delete cascade
);

create unlogged table recipient_repeats (
  account_id integer not null,
  recipient bigint not null,
  message bigint not null,
  is_subject boolean not null,
  minute timestamptz not null,
  messages integer not null,
  constraint recipient_repeats_pkey primary key (account_id, recipient, message, is_subject, minute)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000
);
create index recipient_repeats_minute on recipient_repeats (minute);

create table recovery_codes (
  user_id integer not null,
  hash bytea not null,
  constraint recovery_codes_pkey primary key (user_id, hash),
  constraint recovery_codes_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);

create table relay_networks (
  network cidr not null,
  api_key_id integer not null,
  requires_tls boolean not null,
  created_at timestamptz not null default service_now(),
  constraint relay_networks_pkey primary key (network),
  constraint relay_networks_api_key_id_fkey foreign key (api_key_id) references api_keys(id) on delete cascade,
  constraint relay_networks_apart exclude using gist (network inet_ops with &&)
);
create index relay_networks_key on relay_networks (api_key_id);

create unlogged table reputation_due (
  account_id integer not null,
  constraint reputation_due_pkey primary key (account_id)
);

create table retention_cursors (
  account_id integer not null,
  bodies bigint not null default 0,
  events bigint not null default 0,
  due_at timestamptz not null default service_now(),
  constraint retention_cursors_pkey primary key (account_id)
);
create index retention_cursors_due on retention_cursors (due_at);

create table retention_turns (
  name text not null,
  turn_at timestamptz not null,
  constraint retention_turns_pkey primary key (name)
);

create table returns (
  id uuid not null default uuidv7(),
  received_at timestamptz not null default service_now(),
  kind text not null,
  message_id uuid,
  recipient_no integer,
  account_id integer,
  role text,
  effect text not null,
  why text,
  class text,
  reporter text not null,
  size integer not null,
  content bytea,
  sent_to text,
  mail_from text,
  forward text,
  forward_at timestamptz,
  forward_hour timestamptz,
  forward_tries smallint,
  forward_message_id uuid,
  constraint returns_pkey primary key (id)
);
create index returns_by_kind on returns (kind, id);
create index returns_by_message on returns (message_id, recipient_no) where message_id is not null;
create index returns_by_time on returns (received_at);
create index returns_forward on returns (forward_at) where forward = any (array['waiting'::text, 'excess'::text]);
create index returns_forwarded on returns (forward_hour) where forward_hour is not null;
create index returns_kept on returns ((message_id is null), id) where content is not null;
create index returns_unmatched on returns (id) where message_id is null;

create table roll_up_sums (
  account_id integer not null,
  subject text collate "C" not null,
  through date not null,
  constraint roll_up_sums_pkey primary key (account_id, subject),
  constraint roll_up_sums_subject_check check (subject = any (array['domain'::text, 'tag'::text, 'recipient_domain'::text]))
);

create table roll_ups (
  account_id integer not null,
  subject text collate "C" not null,
  name text collate "C" not null,
  day date not null,
  place integer,
  processed bigint not null,
  sent bigint not null,
  deferred bigint not null,
  hard_bounced bigint not null,
  soft_bounced bigint not null,
  expired bigint not null,
  dropped bigint not null,
  invalid bigint not null,
  opened bigint not null,
  unique_opened bigint not null,
  machine_opened bigint not null,
  clicked bigint not null,
  unique_clicked bigint not null,
  machine_clicked bigint not null,
  unsubscribed bigint not null,
  complained bigint not null,
  delivery_times integer[],
  late_dropped bigint not null default 0,
  bounce_dropped bigint not null default 0,
  complaint_dropped bigint not null default 0,
  unsubscribe_dropped bigint not null default 0,
  constraint roll_ups_pkey primary key (account_id, subject, name, day),
  constraint roll_ups_subject_check check (subject = any (array['total'::text, 'domain'::text, 'tag'::text, 'recipient_domain'::text, 'other tag'::text, 'other recipient_domain'::text, 'all domain'::text, 'all tag'::text, 'all recipient_domain'::text, 'domain week'::text, 'tag week'::text, 'recipient_domain week'::text, 'other tag week'::text, 'other recipient_domain week'::text])) not valid
) with (
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0
);
create index roll_ups_day on roll_ups (account_id, subject, day, place);

create unlogged table rule_hits (
  place text not null,
  rule text not null,
  account_id integer not null,
  minute timestamptz not null,
  hits integer not null,
  constraint rule_hits_pkey primary key (place, rule, account_id, minute)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000
);

create table schema_backfills (
  name text not null,
  bookmark text,
  rows bigint not null,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint schema_backfills_pkey primary key (name)
);

create table schema_migrations (
  name text not null,
  digest text not null,
  applied_at timestamptz not null default now(),
  constraint schema_migrations_pkey primary key (name)
);

create table schema_minimum (
  only_row boolean not null default true,
  version integer not null,
  constraint schema_minimum_pkey primary key (only_row),
  constraint schema_minimum_only_row_check check (only_row)
);

create table search_blocks (
  account_id integer not null,
  first_id uuid not null,
  first_no integer not null,
  last_id uuid not null,
  filter bytea storage plain not null,
  places bytea not null,
  texts text not null,
  constraint search_blocks_pkey primary key (account_id, first_id, first_no)
) partition by range (first_id);

create table search_progress (
  only_row boolean not null default true,
  up_to uuid not null,
  constraint search_progress_pkey primary key (only_row),
  constraint search_progress_only_row_check check (only_row)
);

create table sessions (
  id bigint not null generated always as identity,
  hash bytea not null,
  previous_hash bytea,
  rotated_at timestamptz,
  rotate boolean not null default false,
  user_id integer not null,
  created_at timestamptz not null default service_now(),
  seen_at timestamptz not null default service_now(),
  expires_at timestamptz not null,
  method text not null,
  address inet,
  agent text,
  reauthenticated_at timestamptz not null default service_now(),
  looks_at integer,
  constraint sessions_pkey primary key (id),
  constraint sessions_method_check check (method = any (array['password'::text, 'passkey'::text, 'oidc'::text])),
  constraint sessions_looks_at_fkey foreign key (looks_at) references accounts(id),
  constraint sessions_user_id_fkey foreign key (user_id) references users(id) on delete cascade
) with (
  fillfactor = 70
);
create index sessions_expiry on sessions (expires_at);
create unique index sessions_hash on sessions (hash);
create index sessions_previous on sessions (previous_hash) where previous_hash is not null;
create index sessions_user on sessions (user_id);

create table smart_hosts (
  id integer not null generated always as identity,
  name text not null,
  url bytea not null,
  used_for text[] not null,
  classes smallint[],
  daily_cap integer,
  created_at timestamptz not null default service_now(),
  constraint smart_hosts_pkey primary key (id),
  constraint smart_hosts_name_key unique (name)
);

create table source_checks (
  source_id integer not null,
  records jsonb not null default '[]'::jsonb,
  checked_at timestamptz,
  check_at timestamptz not null default service_now(),
  listings_at timestamptz not null default service_now(),
  constraint source_checks_pkey primary key (source_id),
  constraint source_checks_source_id_fkey foreign key (source_id) references sources(id) on delete cascade
);

create table source_listings (
  source_id integer not null,
  address inet not null,
  list text not null,
  state text not null,
  codes text[] not null,
  severe boolean not null,
  overruled boolean not null default false,
  problem text,
  since timestamptz not null,
  checked_at timestamptz not null,
  constraint source_listings_pkey primary key (source_id, address, list),
  constraint source_listings_state_check check (state = any (array['clean'::text, 'policy'::text, 'listed'::text, 'unknown'::text])),
  constraint source_listings_source_id_fkey foreign key (source_id) references sources(id) on delete cascade
);

create table source_results (
  source_id integer not null,
  provider text not null,
  day date not null,
  tried integer not null,
  refused integer not null,
  bounced integer not null,
  constraint source_results_pkey primary key (source_id, provider, day),
  constraint source_results_source_id_fkey foreign key (source_id) references sources(id) on delete cascade
);

create table source_warm_ups (
  source_id integer not null,
  provider text not null,
  day integer not null default 0,
  began_on date not null,
  spent_until timestamptz,
  blocked_on date,
  constraint source_warm_ups_pkey primary key (source_id, provider),
  constraint source_warm_ups_source_id_fkey foreign key (source_id) references sources(id) on delete cascade
);

create table source_workers (
  source_id integer not null,
  worker_id integer not null,
  constraint source_workers_pkey primary key (source_id, worker_id),
  constraint source_workers_source_id_fkey foreign key (source_id) references sources(id) on delete cascade,
  constraint source_workers_worker_id_fkey foreign key (worker_id) references workers(id) on delete cascade
);
create index source_workers_worker on source_workers (worker_id);

create table sources (
  id integer not null generated always as identity,
  name text not null,
  pool_id integer not null,
  address inet not null,
  address6 inet,
  bind inet,
  helo text not null,
  weight integer not null default 10,
  state text not null default 'active'::text,
  reason text,
  created_at timestamptz not null default service_now(),
  warm_up_plan text,
  paused_by text,
  constraint sources_pkey primary key (id),
  constraint sources_address6_key unique (address6),
  constraint sources_address_key unique (address),
  constraint sources_name_key unique (name),
  constraint sources_state_check check (state = any (array['active'::text, 'paused'::text])),
  constraint sources_weight_check check (weight >= 1 and weight <= 100),
  constraint sources_pool_id_fkey foreign key (pool_id) references pools(id)
);

create table status_notifications (
  id bigint not null generated always as identity,
  account_id integer not null,
  message_id uuid not null,
  recipient_no integer not null,
  action text not null,
  occurred_at timestamptz not null,
  due_at timestamptz not null default service_now(),
  constraint status_notifications_pkey primary key (id),
  constraint status_notifications_action_check check (action = any (array['failed'::text, 'delayed'::text, 'relayed'::text]))
);
create index status_notifications_account on status_notifications (account_id, due_at);
create index status_notifications_due on status_notifications (due_at);

create table suppressions (
  account_id integer not null,
  scope text not null,
  value text not null,
  reason text not null,
  since timestamptz not null default service_now(),
  group_id integer not null default 0,
  held_until timestamptz,
  rule text,
  class text,
  message_id uuid,
  recipient_no integer,
  return_id uuid,
  manual_since timestamptz,
  unsubscribed_since timestamptz,
  told text,
  told_status text,
  constraint suppressions_pkey primary key (account_id, value, group_id),
  constraint suppressions_group_check check ((scope = 'group'::text) = (group_id > 0)),
  constraint suppressions_reason_check check (reason = any (array['unsubscribe'::text, 'hardbounce'::text, 'abuse'::text, 'manual'::text, 'global'::text])),
  constraint suppressions_scope_check check (scope = any (array['address'::text, 'domain'::text, 'group'::text]))
);
create index suppressions_browse on suppressions (account_id, reason, group_id, value collate "C") include (since, held_until);
create index suppressions_group on suppressions (account_id, group_id, value) include (since, held_until) where group_id > 0;
create index suppressions_held_until on suppressions (held_until) where held_until is not null;
create index suppressions_reason on suppressions (account_id, reason, value, group_id);
create index suppressions_unsubscribed on suppressions (account_id, group_id, value collate "C") include (unsubscribed_since, held_until) where unsubscribed_since is not null;

create table tags (
  account_id integer not null,
  name text collate "C" not null,
  created_at timestamptz not null,
  constraint tags_pkey primary key (account_id, name)
);

create table template_versions (
  template_id integer not null,
  number integer not null,
  subject text,
  content text not null,
  variables jsonb not null default '[]'::jsonb,
  created_at timestamptz not null default service_now(),
  text text,
  constraint template_versions_pkey primary key (template_id, number),
  constraint template_versions_template_id_fkey foreign key (template_id) references templates(id) on delete cascade
);

create table templates (
  id integer not null generated always as identity,
  account_id integer not null,
  name text not null,
  content text not null,
  created_at timestamptz not null default service_now(),
  updated_at timestamptz not null default service_now(),
  version integer not null default 1,
  subject text,
  variables jsonb not null default '[]'::jsonb,
  test_data text,
  constraint templates_pkey primary key (id),
  constraint templates_account_id_fkey foreign key (account_id) references accounts(id)
);
create index templates_account on templates (account_id, id);
create unique index templates_name on templates (account_id, lower(name));

create table tls_failures (
  day date not null,
  policy_domain text not null,
  policy_type text not null,
  result text not null,
  mx text not null,
  sending_ip text not null,
  receiving_ip text not null,
  sessions bigint not null,
  constraint tls_failures_pkey primary key (day, policy_domain, policy_type, result, mx, sending_ip, receiving_ip)
);

create table tls_report_days (
  day date not null,
  policy_domain text not null,
  rua text[] not null,
  due_at timestamptz,
  tries smallint not null default 0,
  sent text[] not null default '{}'::text[],
  problem text,
  constraint tls_report_days_pkey primary key (day, policy_domain)
);
create index tls_report_days_due on tls_report_days (due_at) where due_at is not null;

create table tls_report_rows (
  report uuid not null,
  no integer not null,
  policy_type text not null,
  result_type text,
  receiving_mx text,
  successful bigint not null,
  failed bigint not null,
  constraint tls_report_rows_pkey primary key (report, no),
  constraint tls_report_rows_report_fkey foreign key (report) references tls_reports(id) on delete cascade
);

create table tls_reports (
  id uuid not null default uuidv7(),
  domain_id integer,
  account_id integer,
  policy_domain text not null,
  organization text not null,
  report_id text not null,
  begin_at timestamptz not null,
  end_at timestamptz not null,
  reporter text not null,
  authenticated boolean not null,
  received_at timestamptz not null default service_now(),
  rows integer not null,
  successful bigint not null,
  failed bigint not null,
  constraint tls_reports_pkey primary key (id),
  constraint tls_reports_domain_id_fkey foreign key (domain_id) references domains(id) on delete cascade
);
create index tls_reports_by_account on tls_reports (account_id);
create index tls_reports_by_domain on tls_reports (policy_domain, received_at);
create index tls_reports_by_time on tls_reports (received_at);
create index tls_reports_of_domain on tls_reports (domain_id);
create unique index tls_reports_once on tls_reports (policy_domain, coalesce(domain_id, 0), authenticated, reporter, organization, report_id);

create table tls_results (
  day date not null,
  policy_domain text not null,
  policy_type text not null,
  result text not null,
  mx text not null,
  sessions bigint not null,
  constraint tls_results_pkey primary key (day, policy_domain, policy_type, result, mx),
  constraint tls_results_policy_type_check check (policy_type = any (array['tlsa'::text, 'sts'::text, 'no-policy-found'::text]))
);

create table tls_rules (
  id integer not null generated always as identity,
  account_id integer,
  domain text,
  level text not null,
  created_at timestamptz not null default service_now(),
  version numeric(2,1),
  constraint tls_rules_pkey primary key (id),
  constraint tls_rules_target unique nulls not distinct (account_id, domain),
  constraint tls_rules_level_check check (level = any (array['required'::text, 'verified'::text, 'dane'::text]))
);

create table unkept_contents (
  message_id uuid not null,
  account_id integer not null,
  constraint unkept_contents_pkey primary key (message_id)
);
create index unkept_contents_account on unkept_contents (account_id, message_id);

create table unsubscribe_groups (
  account_id integer not null,
  id integer not null,
  name text not null,
  description text not null,
  is_default boolean not null default false,
  created_at timestamptz not null default service_now(),
  deleted_at timestamptz,
  constraint unsubscribe_groups_pkey primary key (account_id, id),
  constraint unsubscribe_groups_id_check check (id > 0),
  constraint unsubscribe_groups_account_id_fkey foreign key (account_id) references accounts(id)
);
create unique index unsubscribe_groups_default on unsubscribe_groups (account_id) where is_default and deleted_at is null;
create unique index unsubscribe_groups_name on unsubscribe_groups (account_id, lower(name)) where deleted_at is null;

create table users (
  id integer not null generated always as identity,
  name text not null,
  email text,
  email_key text,
  password text,
  holder_of integer,
  oidc_subject text,
  totp_secret bytea,
  totp_confirmed_at timestamptz,
  totp_step bigint,
  verified_at timestamptz,
  created_at timestamptz not null default service_now(),
  disabled_at timestamptz,
  last_seen_at timestamptz,
  constraint users_pkey primary key (id),
  constraint users_identity check (holder_of is not null or email_key is not null),
  constraint users_holder_of_fkey foreign key (holder_of) references accounts(id)
);
create unique index users_email on users (email_key);
create unique index users_holder on users (holder_of);
create unique index users_oidc on users (oidc_subject);

create table webhook_batches (
  id uuid not null default gen_random_uuid(),
  webhook_id integer not null,
  account_id integer not null,
  after_number bigint not null,
  to_number bigint not null,
  types text[] not null,
  made_at timestamptz not null default service_now(),
  state text not null default 'waiting'::text,
  leased_until timestamptz,
  lease integer not null default 0,
  attempts integer not null default 0,
  next_at timestamptz not null default service_now(),
  failed_since timestamptz,
  failed_at timestamptz,
  aside boolean not null default false,
  problem text,
  events integer,
  constraint webhook_batches_pkey primary key (id),
  constraint webhook_batches_state_check check (state = any (array['waiting'::text, 'dead'::text]))
) with (
  fillfactor = 60
);
create index webhook_batches_webhook on webhook_batches (webhook_id, state, next_at);

create table webhook_deliveries (
  webhook_id integer not null,
  place integer not null,
  account_id integer not null,
  batch_id uuid not null,
  at timestamptz not null,
  after_number bigint not null,
  to_number bigint not null,
  attempt integer not null,
  status integer,
  milliseconds integer not null,
  problem text,
  types text[],
  written jsonb,
  events integer,
  request_head text,
  answer_head text,
  answer bytea,
  constraint webhook_deliveries_pkey primary key (webhook_id, place)
);
create index webhook_deliveries_age on webhook_deliveries (at);

create table webhooks (
  id integer not null generated always as identity,
  account_id integer not null,
  url text not null,
  events text[] not null,
  format text not null,
  as_text boolean not null,
  abuse boolean not null,
  event_ids boolean not null,
  headers bytea not null,
  secret bytea not null,
  former_secret bytea,
  former_until timestamptz,
  signing_key bytea not null,
  public_key text not null,
  enabled boolean not null,
  created_at timestamptz not null default service_now(),
  position bigint not null,
  due_at timestamptz,
  held_until timestamptz,
  failing_since timestamptz,
  succeeded_at timestamptz,
  problem text,
  disabled_at timestamptz,
  milliseconds integer not null default 0,
  succeeded bigint not null default 0,
  failed bigint not null default 0,
  label text not null default ''::text,
  names text[],
  signed boolean not null default true,
  changed_at timestamptz,
  disabled_reason text,
  answers_hour timestamptz,
  answers_kept integer not null default 0,
  domains text[],
  tags text[],
  constraint webhooks_pkey primary key (id),
  constraint webhooks_disabled_reason_check check (disabled_reason = any (array['gone'::text, 'failing'::text])),
  constraint webhooks_format_check check (format = any (array['v2'::text, 'v3'::text]))
) with (
  fillfactor = 50
);
create index webhooks_account on webhooks (account_id, id);
create index webhooks_due on webhooks (due_at) where enabled and due_at is not null;

create table workers (
  id integer not null generated always as identity,
  host text not null,
  pid integer not null,
  beat bigint not null default 0,
  started_at timestamptz not null default service_now(),
  constraint workers_pkey primary key (id)
);

create view deliveries as
 SELECT delivery_queue.message_id,
    delivery_queue.recipient_no,
    delivery_queue.account_id,
    delivery_queue.state,
    delivery_queue.recipient,
    delivery_queue.recipient_key,
    delivery_queue.recipient_domain,
    delivery_queue.kind,
    delivery_queue.reference,
    delivery_queue.attempt,
    delivery_queue.next_at,
    delivery_queue.expires_at,
    delivery_queue.set_aside AS reason,
    NULL::timestamp with time zone AS finished_at
   FROM delivery_queue
UNION ALL
 SELECT finished_deliveries.message_id,
    finished_deliveries.recipient_no,
    finished_deliveries.account_id,
    finished_deliveries.state,
    finished_deliveries.recipient,
    finished_deliveries.recipient_key,
    finished_deliveries.recipient_domain,
    finished_deliveries.kind,
    finished_deliveries.reference,
    finished_deliveries.attempt,
    NULL::timestamp with time zone AS next_at,
    NULL::timestamp with time zone AS expires_at,
    finished_deliveries.reason,
    finished_deliveries.finished_at
   FROM finished_deliveries;

create sequence event_numbers as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 cache 32;
create sequence transaction_numbers as bigint increment 16384 minvalue 0 maxvalue 9223372036854775807 cache 1;

CREATE OR REPLACE FUNCTION add_counts(one integer[], other integer[])
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  size integer := cardinality(other);
begin
  if one is null then
    return other;
  elsif other is null then
    return one;
  elsif other[size] > 0 and cardinality(array_remove(other, 0)) = 1 then
    if cardinality(one) < size then
      one := one || array_fill(0, array[size - cardinality(one)]);
    end if;
    one[size] := least(coalesce(one[size], 0)::bigint + other[size], 2147483647);
    return one;
  end if;
  return array(select least(coalesce(a, 0)::bigint + coalesce(b, 0), 2147483647)::integer from unnest(one, other) as both_of(a, b));
end
$function$;

CREATE OR REPLACE FUNCTION audit_hash(entry audit_log)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case entry.version
    when 1 then sha256(entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after)::text, 'UTF8'))
    when 2 then sha256('\x02'::bytea || entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after, entry.actor_user_id)::text, 'UTF8'))
    else sha256('\x03'::bytea || entry.previous_hash || convert_to(jsonb_build_array(
      entry.account_id, entry.number, (extract(epoch from entry.at) * 1000000)::bigint, entry.actor_key_id, host(entry.actor_address),
      entry.action, entry.object, entry.before, entry.after, entry.actor_user_id, entry.agent)::text, 'UTF8'))
    end
$function$;

CREATE OR REPLACE FUNCTION audit_note(of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  select audit_note(of_account, key_id, address, what, which, was, became, null)
$function$;

CREATE OR REPLACE FUNCTION audit_note(of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb, user_id integer)
 RETURNS void
 LANGUAGE sql
AS $function$
  select audit_note(of_account, key_id, address, what, which, was, became, user_id, null)
$function$;

CREATE OR REPLACE FUNCTION audit_note(of_account integer, key_id integer, address inet, what text, which text, was jsonb, became jsonb, user_id integer, by_agent text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  entry audit_log;
  last audit_log;
begin
  perform pg_advisory_xact_lock(7742, of_account);
  select * into last from audit_log where account_id = of_account order by number desc limit 1;
  entry.account_id := of_account;
  entry.number := coalesce(last.number, 0) + 1;
  entry.at := service_now();
  entry.actor_key_id := key_id;
  entry.actor_address := address;
  entry.actor_user_id := user_id;
  entry.agent := by_agent;
  entry.version := 3;
  entry.action := what;
  entry.object := which;
  entry.before := was;
  entry.after := became;
  entry.previous_hash := coalesce(last.hash, '');
  entry.hash := audit_hash(entry);
  insert into audit_log select entry.*;
end
$function$;

CREATE OR REPLACE FUNCTION charge_credits(ids uuid[], accounts integer[], parents integer[], keys text[], fingerprints text[], costs integer[])
 RETURNS TABLE(message_id uuid, verdict text)
 LANGUAGE plpgsql
AS $function$
declare
  fresh uuid[];
  poor uuid[] := '{}';
  payer credit_balances;
  one record;
  recurring bigint;
  available bigint;
  charged bigint;
  runs integer;
begin
  perform from credit_balances b where b.account_id = any(accounts || parents) order by b.account_id for update;
  if cardinality(array_remove(keys, null)) > 0 then
    with keyed as (
      insert into idempotency_keys as k (account_id, key, fingerprint, message_id, created_at)
      select m.account_id, m.key, decode(m.fingerprint, 'hex'), m.id, service_now()
        from unnest(ids, accounts, keys, fingerprints) with ordinality as m(id, account_id, key, fingerprint, place)
       where m.key is not null order by m.account_id, m.key, m.place
      on conflict do nothing
      returning k.message_id)
    select array_agg(keyed.message_id) into fresh from keyed;
  end if;

  for payer in
    select b.* from credit_balances b where b.account_id = any(accounts || parents) order by b.account_id
  loop
    recurring := recurring_left(payer);
    available := payer.balance + recurring;
    charged := 0;
    for one in
      select m.id, m.cost from unnest(ids, accounts, parents, keys, costs) with ordinality
             as m(id, account_id, parent_id, key, cost, place)
       where (m.key is null or m.id = any(fresh))
         and payer.account_id = coalesce((select own.account_id from credit_balances own where own.account_id = m.account_id),
                                         m.parent_id)
       order by m.place
    loop
      if one.cost > available - charged then
        poor := poor || one.id;
      else
        charged := charged + one.cost;
      end if;
    end loop;
    if charged > 0 then
      runs := credit_period(payer);
      update credit_balances b
         set balance = b.balance - (charged - least(charged, recurring)),
             period_used = case when b.period is not distinct from runs then b.period_used else 0 end + least(charged, recurring),
             period = runs
       where b.account_id = payer.account_id;
    end if;
  end loop;

  -- Only keys that were inserted above are of messages that can be refused.
  if fresh is not null and cardinality(poor) > 0 then
    delete from idempotency_keys k
     using unnest(ids, accounts, keys) as m(id, account_id, key)
     where k.account_id = m.account_id and k.key = m.key and k.message_id = m.id and m.id = any(poor);
  end if;
  return query
    select m.id, case when m.key is not null and not coalesce(m.id = any(fresh), false) then 'repeated'
                      when m.id = any(poor) then 'refused' else 'stored' end
      from unnest(ids, keys) as m(id, key);
end
$function$;

CREATE OR REPLACE FUNCTION count_buckets(buckets integer[])
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE STRICT
AS $function$
declare
  counts integer[];
  bucket integer;
begin
  if cardinality(buckets) = 1 then
    return array_fill(0, array[buckets[1] - 1]) || 1;
  end if;
  counts := array_fill(0, array[(select max(each) from unnest(buckets) each)]);
  foreach bucket in array buckets loop
    counts[bucket] := counts[bucket] + 1;
  end loop;
  return counts;
end
$function$;

CREATE OR REPLACE FUNCTION credit_period(of_balance credit_balances)
 RETURNS integer
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  today date := (service_now() at time zone 'UTC')::date;
  since date := of_balance.recurring_from;
  months integer;
begin
  if not of_balance.recurring_active or since is null or today not between since and of_balance.recurring_until then
    return null;
  end if;
  if of_balance.recurring_every = 'day' then
    return today - since;
  elsif of_balance.recurring_every = 'week' then
    return (today - since) / 7;
  end if;
  months := (extract(year from today) - extract(year from since)) * 12 + extract(month from today) - extract(month from since);
  return case when (since + make_interval(months => months))::date > today then months - 1 else months end;
end
$function$;

CREATE OR REPLACE FUNCTION delivery_time_bucket(seconds double precision)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select 1 + least(ceil(4 * ln(greatest(seconds, 0.01) / 0.01) / ln(2::double precision)), 109)::integer
$function$;

CREATE OR REPLACE FUNCTION ensure_partitions(moment timestamp with time zone, weeks_ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  made integer := 0;
  first_week timestamptz := date_trunc('week', moment, 'UTC') - interval '7 days';
  week timestamptz;
  next_week timestamptz;
  parent text;
  partition text;
begin
  perform pg_advisory_xact_lock(7740, 0);
  for number in 0 .. weeks_ahead + 1 loop
    week := first_week + number * interval '7 days';
    next_week := week + interval '7 days';
    foreach parent in array array['messages', 'bodies', 'finished_deliveries', 'attempts', 'events', 'engagements', 'search_blocks'] loop
      partition := parent || to_char(week at time zone 'UTC', '"_"IYYY"w"IW');
      if to_regclass(partition) is not null then
        continue;
      end if;
      if parent = 'events' then
        execute format('create table %I partition of %I for values from (%L) to (%L)', partition, parent, week, next_week);
      else
        execute format('create table %I partition of %I for values from (%L) to (%L)', partition, parent,
                       uuidv7_floor(week), uuidv7_floor(next_week));
      end if;
      if parent = 'bodies' then
        -- Up to 8 kB a body stays in its row: no TOAST table, no second index.
        execute format('alter table %I set (toast_tuple_target = 8160)', partition);
      end if;
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$function$;

CREATE OR REPLACE FUNCTION event_horizon()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  -- Numbers below it were given, and told to all, before this moment.
  next_number bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  oldest bigint;
  -- A pooler may drop the names of sessions: then no transaction is known to be another program's.
  names_are_kept boolean := current_setting('application_name') like 'postrider %';
begin
  -- Sessions of other roles hide their transactions from one without the right to see them.
  if not pg_has_role('pg_read_all_stats', 'usage') and exists (
    select from pg_stat_activity where datname = current_database() and usename <> current_user) then
    return pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  end if;
  perform pg_stat_clear_snapshot();
  select next_number - max(distance) into oldest
    from (
      select ((next_number & 4294967295) - number + 4294967296) & 4294967295 as distance
        from (
          select a.backend_xid::text::bigint as number from pg_stat_activity a
           where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_xid is not null
             -- A transaction that another program forgot to end, as a repair by hand, must not stop all events. One that has written events
             -- has this lock.
             and not (
               names_are_kept and a.application_name not like 'postrider %' and a.xact_start < service_now() - interval '10 seconds'
               and not exists (
                 select from pg_locks l
                  where l.pid = a.pid and l.database = (select oid from pg_database where datname = current_database())
                    and l.mode = 'RowExclusiveLock' and l.relation in (select relid from pg_partition_tree('events'))))
          union all
          -- A prepared transaction writes nothing more.
          select p.transaction::text::bigint from pg_prepared_xacts p
           where p.database = current_database() and exists (
             select from pg_locks l
              where l.pid is null and l.virtualtransaction = '-1/' || p.transaction::text
                and l.mode = 'RowExclusiveLock' and l.relation in (select relid from pg_partition_tree('events')))
        ) running
    ) behind
   -- The others began since.
   where distance < 2147483648;
  return coalesce(oldest, next_number);
end
$function$;

CREATE OR REPLACE FUNCTION fold_tags(of_account integer, names text[])
 RETURNS void
 LANGUAGE sql
AS $function$
  with gone as (
    delete from roll_ups where account_id = of_account and subject in ('tag', 'tag week') and name = any(names) returning *
  )
  insert into roll_ups as r (account_id, subject, name, day, delivery_times,
      processed, sent, deferred, hard_bounced, soft_bounced, expired, dropped, late_dropped, bounce_dropped,
      complaint_dropped, unsubscribe_dropped, invalid, opened, unique_opened, machine_opened, clicked, unique_clicked,
      machine_clicked, unsubscribed, complained)
  select account_id, 'other ' || subject, '', day, sum_counts(delivery_times),
      sum(processed), sum(sent), sum(deferred), sum(hard_bounced), sum(soft_bounced), sum(expired), sum(dropped),
      sum(late_dropped), sum(bounce_dropped), sum(complaint_dropped), sum(unsubscribe_dropped), sum(invalid),
      sum(opened), sum(unique_opened), sum(machine_opened), sum(clicked), sum(unique_clicked), sum(machine_clicked),
      sum(unsubscribed), sum(complained)
    from gone group by account_id, subject, day order by subject, day
  on conflict (account_id, subject, name, day) do update
     set delivery_times = add_counts(r.delivery_times, excluded.delivery_times),
         processed = r.processed + excluded.processed, sent = r.sent + excluded.sent,
         deferred = r.deferred + excluded.deferred, hard_bounced = r.hard_bounced + excluded.hard_bounced,
         soft_bounced = r.soft_bounced + excluded.soft_bounced, expired = r.expired + excluded.expired,
         dropped = r.dropped + excluded.dropped, late_dropped = r.late_dropped + excluded.late_dropped,
         bounce_dropped = r.bounce_dropped + excluded.bounce_dropped, complaint_dropped = r.complaint_dropped + excluded.complaint_dropped,
         unsubscribe_dropped = r.unsubscribe_dropped + excluded.unsubscribe_dropped, invalid = r.invalid + excluded.invalid,
         opened = r.opened + excluded.opened, unique_opened = r.unique_opened + excluded.unique_opened,
         machine_opened = r.machine_opened + excluded.machine_opened, clicked = r.clicked + excluded.clicked,
         unique_clicked = r.unique_clicked + excluded.unique_clicked, machine_clicked = r.machine_clicked + excluded.machine_clicked,
         unsubscribed = r.unsubscribed + excluded.unsubscribed, complained = r.complained + excluded.complained;
  delete from tags where account_id = of_account and name = any(names);
$function$;

CREATE OR REPLACE FUNCTION forget_export_files(of_account integer)
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from export_jobs where account_id = of_account and state in ('done', 'failed');
  delete from export_parts where job_id in (select id from export_jobs where account_id = of_account);
  update export_jobs
     set position = null, last_number = null, rows = 0, parts = 0, octets = 0, due_at = service_now()
   where account_id = of_account;
$function$;

CREATE OR REPLACE FUNCTION is_time_zone(name text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  perform timestamptz '2000-01-01 00:00Z' at time zone name;
  return true;
exception when invalid_parameter_value then
  return false;
end
$function$;

CREATE OR REPLACE FUNCTION recurring_left(of_balance credit_balances)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select case when runs.period is null then 0
              when runs.period = of_balance.period then greatest(of_balance.recurring_amount - of_balance.period_used, 0)
              else of_balance.recurring_amount end
    from (select credit_period(of_balance) as period) runs
$function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
end
$function$;

CREATE OR REPLACE FUNCTION refuse_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from account_deletions d where d.account_id = old.account_id and d.state = 'removing') then
    raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return old;
end
$function$;

CREATE OR REPLACE FUNCTION refuse_late_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from event_cursors
     where name = 'numbers' and pg_current_xact_id()::text::bigint + transaction_offset <= transaction::text::bigint) then
    raise exception 'this transaction is too old to write events: later ones have been numbered without it'
      using hint = 'End it, and begin another one with the events.';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION service_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$select now()$function$;

CREATE OR REPLACE FUNCTION uuidv7_floor(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$function$;
