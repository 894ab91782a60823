-- The overview reads the hours of an account without its rows for each domain, provider and source.
alter table account_counts add column deferred integer not null default 0;
