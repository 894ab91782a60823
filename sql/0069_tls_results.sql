-- TLS reports to the domains of recipients (RFC 8460). One row for each domain that asks for reports and got mail on that day (UTC).
create table tls_report_days (
  day           date not null,
  policy_domain text not null,
  -- Where reports go, from its record _smtp._tls: mailto: and https: addresses.
  rua           text[] not null,
  -- When the report is sent, and the number of tries. Null when nothing is left to do.
  due_at        timestamptz,
  tries         smallint not null default 0,
  -- The addresses that have it, and why the last try failed.
  sent          text[] not null default '{}',
  problem       text,
  primary key (day, policy_domain)
);
create index tls_report_days_due on tls_report_days (due_at) where due_at is not null;

-- Sessions by their result; an empty result is a success.
create table tls_results (
  day           date not null,
  policy_domain text not null,
  policy_type   text not null check (policy_type in ('tlsa', 'sts', 'no-policy-found')),
  result        text not null,
  mx            text not null,
  sessions      bigint not null,
  primary key (day, policy_domain, policy_type, result, mx)
);
