-- What waits of one account, newest first: the list of its messages, by state. Only what no worker has claimed, of which there is little, so that
-- a claim does not write an entry.
create index delivery_queue_listed on delivery_queue (account_id, message_id, recipient_no) where worker_id is null;
