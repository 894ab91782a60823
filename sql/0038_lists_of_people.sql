-- Who waits: the deliveries of one person that no worker holds, to show, export or forget them (core/privacy/find.ts, core/event-log). What a
-- worker holds is found by delivery_queue_worker: a claim adds no entry here.
-- Built in 0.4 s for a million deliveries. Costs some 1 µs of a delivery's 20 in the queue, and 50 octets of WAL.
create index delivery_queue_person on delivery_queue (hashtextextended(recipient_key, account_id)) where worker_id is null;

-- Who left a group, read from the index alone (core/suppressions/store.ts): a page behind 90,000 others had fetched each of their rows.
-- Of groups only; a second for 100,000 entries.
drop index suppressions_group;
create index suppressions_group on suppressions (account_id, group_id, value) include (since, held_until) where group_id > 0;
