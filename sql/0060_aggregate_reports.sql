-- DMARC reports (RFC 7489, RFC 9990): the part of one that is about one sending domain. Its counts are those of all rows.
create table dmarc_reports (
  id uuid primary key default uuidv7(),
  domain_id integer not null references domains (id) on delete cascade,
  account_id integer not null,
  -- The domain whose policy the report is about: the sending domain, or one above or below it.
  policy_domain text not null,
  -- What the report says, unverified.
  organization text not null,
  report_id text not null,
  begin_at timestamptz not null,
  end_at timestamptz not null,
  policy jsonb not null,
  -- The domain of the DKIM signature if it is authenticated, otherwise of the address in From.
  reporter text not null,
  authenticated boolean not null,
  received_at timestamptz not null default service_now(),
  rows integer not null,
  messages bigint not null,
  aligned bigint not null,
  -- Sent by this service; those of them that were aligned.
  ours bigint not null,
  ours_aligned bigint not null
);
-- Somebody else's report with the same id does not replace it.
create unique index dmarc_reports_once on dmarc_reports (domain_id, authenticated, reporter, organization, report_id, policy_domain);
create index dmarc_reports_by_domain on dmarc_reports (domain_id, received_at);
create index dmarc_reports_by_account on dmarc_reports (account_id);
create index dmarc_reports_by_time on dmarc_reports (received_at);

create table dmarc_rows (
  report uuid not null references dmarc_reports (id) on delete cascade,
  no integer not null,
  count bigint not null,
  -- All null in the row with the rest of a large report.
  source_ip inet,
  disposition text,
  dkim boolean,
  spf boolean,
  header_from text,
  ours boolean,
  primary key (report, no)
);

-- TLS reports (RFC 8460): the part of one that is about one domain.
create table tls_reports (
  id uuid primary key default uuidv7(),
  -- Null if the domain is a host of the service itself.
  domain_id integer references domains (id) on delete cascade,
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
  failed bigint not null
);
create unique index tls_reports_once
  on tls_reports (policy_domain, coalesce(domain_id, 0), authenticated, reporter, organization, report_id);
create index tls_reports_by_domain on tls_reports (policy_domain, received_at);
create index tls_reports_of_domain on tls_reports (domain_id);
create index tls_reports_by_account on tls_reports (account_id);
create index tls_reports_by_time on tls_reports (received_at);

create table tls_report_rows (
  report uuid not null references tls_reports (id) on delete cascade,
  no integer not null,
  policy_type text not null,
  -- Null in the row with the sums of the policy.
  result_type text,
  receiving_mx text,
  successful bigint not null,
  failed bigint not null,
  primary key (report, no)
);
