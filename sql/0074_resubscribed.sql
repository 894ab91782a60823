-- The recipient subscribed again. The constraint is not checked for rows that exist: it allows more than before.
alter table events
  drop constraint events_type_check,
  add constraint events_type_check check (type in (
    'processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired',
    'opened', 'clicked', 'unsubscribed', 'resubscribed', 'complained', 'domain', 'account')) not valid;
