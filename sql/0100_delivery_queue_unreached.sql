-- index delivery_queue_unreached
create index concurrently delivery_queue_unreached on delivery_queue (unreached, class, message_id)
  where worker_id is null and unreached is not null;
