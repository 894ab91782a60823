-- expand
-- What clients gave and other services said, which is shown as it was.
-- The lowest TLS version that the account gave with its demand; connections have version 1.2 or newer in any case. Null if it gave none.
alter table tls_rules add column version numeric(2, 1);
-- Why an address is suppressed, in the words of the service that it was imported from, and the enhanced status code (RFC 3463) there. Null for others.
alter table suppressions add column told text;
alter table suppressions add column told_status text;
