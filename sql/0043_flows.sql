-- The class of a delivery: 0 urgent, 1 normal, 2 bulk. What one account has of one class is a flow; claims go round the flows, so each
-- finds its own due mail by its index. A worker of an older version finds its mail by reading the queue: correct, but slow with many rows.
alter table delivery_queue add column class smallint not null default 1;
create index delivery_queue_flow on delivery_queue (account_id, class, next_at) where worker_id is null;
create index delivery_queue_domain_flow on delivery_queue (recipient_domain, account_id, class, next_at) where worker_id is null;
drop index delivery_queue_due;
drop index delivery_queue_site;
