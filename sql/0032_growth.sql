-- Forgetting: how many messages the next batch may have. Halved when one takes too long, so that a request always gets on.
alter table forget_requests add column batch_size integer not null default 200 check (batch_size > 0);
