-- What the event log reads (core/event-log): an account's messages in the order of their acceptance, and what became of its
-- deliveries other than that they were delivered.

-- Ids are UUIDv7, so their order is that of time. With `recipients`, so that counting an account's deliveries of a span reads
-- the index alone. New entries go to each account's end.
create index messages_account on messages (account_id, id) include (recipients);

-- Which deliveries were opened, bounced and so on. Mail that is delivered and not opened has no entry here, so the way of most
-- mail costs nothing. What machines opened or clicked is not in the log.
create index events_notable on events (account_id, message_id, recipient_no, type, occurred_at)
  where type in ('bounced', 'expired', 'dropped', 'invalid', 'opened', 'clicked', 'unsubscribed', 'complained')
        and not coalesce(detail ? 'machine', false);
