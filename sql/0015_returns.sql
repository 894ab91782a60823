-- Mail that comes back, and reports about mail.

-- A message that came back. Its text is kept only if it could not be read, because it contains personal data. Messages to abuse@ and
-- postmaster@ are forwarded to OPERATOR_MAIL; the columns of that are null in other rows.
create table returns (
  id                  uuid default uuidv7() primary key,
  received_at         timestamptz not null default service_now(),
  kind                text not null,
  -- The delivery that it is about. Null if it has no valid mark of this service.
  message_id          uuid,
  recipient_no        integer,
  account_id          integer,
  -- The local part, if it was sent to one of the operator's addresses. Null if it was sent to a return path.
  role                text,
  effect              text not null,
  why                 text,
  class               text,
  -- The domain of From, which is not verified.
  reporter            text not null,
  size                integer not null,
  -- The first 256 KiB, deflated; and the address that it was sent to.
  content             bytea,
  sent_to             text,
  -- MAIL FROM of the message that came back. Empty for the null sender.
  mail_from           text,
  -- waiting, excess (beyond the hourly limit, so it is in the next summary), sent, summarised, or why it is not forwarded: own, automatic,
  -- failed.
  forward             text,
  -- When it is due, or when its state was decided.
  forward_at          timestamptz,
  -- The hour of the first try, whose limit it counts in; and the number of tries.
  forward_hour        timestamptz,
  forward_tries       smallint,
  -- The message that contains it, or the summary that counts it.
  forward_message_id  uuid
);
create index returns_by_kind on returns (kind, id);
create index returns_by_message on returns (message_id, recipient_no) where message_id is not null;
create index returns_by_time on returns (received_at);
create index returns_forward on returns (forward_at) where forward in ('waiting', 'excess');
create index returns_forwarded on returns (forward_hour) where forward_hour is not null;
create index returns_kept on returns ((message_id is null), id) where content is not null;
create index returns_unmatched on returns (id) where message_id is null;

-- The part of a DMARC report (RFC 7489, RFC 9990) that is about one sending domain, with the sums of all its rows.
create table dmarc_reports (
  id             uuid default uuidv7() primary key,
  domain_id      integer not null references domains on delete cascade,
  account_id     integer not null,
  -- The domain whose policy it is about: the sending domain, or one above or below it.
  policy_domain  text not null,
  -- From the report, unverified.
  organization   text not null,
  report_id      text not null,
  begin_at       timestamptz not null,
  end_at         timestamptz not null,
  policy         jsonb not null,
  -- The domain of the DKIM signature if it is authenticated, otherwise of From.
  reporter       text not null,
  authenticated  boolean not null,
  received_at    timestamptz not null default service_now(),
  rows           integer not null,
  messages       bigint not null,
  aligned        bigint not null,
  -- Sent by this service, and those of them that were aligned.
  ours           bigint not null,
  ours_aligned   bigint not null
);
create index dmarc_reports_by_account on dmarc_reports (account_id);
create index dmarc_reports_by_domain on dmarc_reports (domain_id, received_at);
create index dmarc_reports_by_time on dmarc_reports (received_at);
-- Another reporter's report with the same id does not replace it.
create unique index dmarc_reports_once on dmarc_reports (domain_id, authenticated, reporter, organization, report_id, policy_domain);

-- One of the largest rows of a DMARC report; one row has the sum of the others.
create table dmarc_rows (
  report       uuid not null references dmarc_reports on delete cascade,
  no           integer not null,
  count        bigint not null,
  -- Null in the row with the sum, as all following columns.
  source_ip    inet,
  disposition  text,
  dkim         boolean,
  spf          boolean,
  header_from  text,
  ours         boolean,
  primary key (report, no)
);

-- The part of a TLS report (RFC 8460) that is about one domain.
create table tls_reports (
  id             uuid default uuidv7() primary key,
  -- Null if the domain is a host of the service.
  domain_id      integer references domains on delete cascade,
  account_id     integer,
  policy_domain  text not null,
  organization   text not null,
  report_id      text not null,
  begin_at       timestamptz not null,
  end_at         timestamptz not null,
  reporter       text not null,
  authenticated  boolean not null,
  received_at    timestamptz not null default service_now(),
  rows           integer not null,
  successful     bigint not null,
  failed         bigint not null
);
create index tls_reports_by_account on tls_reports (account_id);
create index tls_reports_by_domain on tls_reports (policy_domain, received_at);
create index tls_reports_by_time on tls_reports (received_at);
create index tls_reports_of_domain on tls_reports (domain_id);
create unique index tls_reports_once on tls_reports (policy_domain, coalesce(domain_id, 0), authenticated, reporter, organization, report_id);

-- The sums of one policy of a TLS report, or its failures of one kind at one host.
create table tls_report_rows (
  report        uuid not null references tls_reports on delete cascade,
  no            integer not null,
  policy_type   text not null,
  -- Null in the row with the sums.
  result_type   text,
  receiving_mx  text,
  successful    bigint not null,
  failed        bigint not null,
  primary key (report, no)
);

-- Sessions with the hosts of a recipient's domain on a day, by result. An empty result is a success.
create table tls_results (
  day            date not null,
  policy_domain  text not null,
  policy_type    text not null check (policy_type in ('tlsa', 'sts', 'no-policy-found')),
  result         text not null,
  mx             text not null,
  sessions       bigint not null,
  primary key (day, policy_domain, policy_type, result, mx)
);

-- The failures of tls_results, by the addresses of both sides. An empty address is unknown.
create table tls_failures (
  day            date not null,
  policy_domain  text not null,
  policy_type    text not null,
  result         text not null,
  mx             text not null,
  sending_ip     text not null,
  receiving_ip   text not null,
  sessions       bigint not null,
  primary key (day, policy_domain, policy_type, result, mx, sending_ip, receiving_ip)
);

-- A recipient's domain that asks for TLS reports (RFC 8460) and got mail on that day (UTC).
create table tls_report_days (
  day            date not null,
  policy_domain  text not null,
  -- The addresses of its record _smtp._tls: mailto: and https:.
  rua            text[] not null,
  -- When the report is sent, and the number of tries. If null, nothing is left to do.
  due_at         timestamptz,
  tries          smallint not null default 0,
  -- The addresses that have it, and why the last try failed.
  sent           text[] not null default '{}',
  problem        text,
  primary key (day, policy_domain)
);
create index tls_report_days_due on tls_report_days (due_at) where due_at is not null;
