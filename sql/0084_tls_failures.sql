-- expand
-- Of the failures in tls_results, which sources and addresses of the host they were between. An empty address is unknown.
create table tls_failures (
  day           date not null,
  policy_domain text not null,
  policy_type   text not null,
  result        text not null,
  mx            text not null,
  sending_ip    text not null,
  receiving_ip  text not null,
  sessions      bigint not null,
  primary key (day, policy_domain, policy_type, result, mx, sending_ip, receiving_ip)
);
