-- expand
-- Whether hosts below the account's active domains may send.
alter table accounts add column hosts_may_send boolean not null default false;
