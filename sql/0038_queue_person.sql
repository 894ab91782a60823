-- Who waits: the deliveries of one person that no worker holds, to show, export or forget them (core/privacy/find.ts, core/event-log). What a
-- worker holds is found by delivery_queue_worker: a claim adds no entry here.
-- Built in 0.4 s for a million deliveries. Costs some 1 µs of a delivery's 20 in the queue, and 50 octets of WAL.
create index delivery_queue_person on delivery_queue (hashtextextended(recipient_key, account_id)) where worker_id is null;
