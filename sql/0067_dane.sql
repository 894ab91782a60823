-- Rules can demand DANE (RFC 7672): a certificate that matches the TLSA records of the mail host.
alter table tls_rules drop constraint tls_rules_level_check;
alter table tls_rules add constraint tls_rules_level_check check (level in ('required', 'verified', 'dane'));
