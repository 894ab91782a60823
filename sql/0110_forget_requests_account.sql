-- index forget_requests_account
create index concurrently forget_requests_account on forget_requests (account_id, requested_at, id);
