-- The event log's filter by type at ten million messages: the bounces, or the complaints, of an account are read without its opens, and hard
-- and soft bounces each by what they are (core/event-log/notable.ts).
-- With 27.7 million events this takes 15 to 50 s, in which no event is written: accepts wait up to 8 s and are then refused for now.

drop index events_notable;
create index events_notable on events (account_id, type, message_id, recipient_no, occurred_at)
  where type in ('bounced', 'expired', 'dropped', 'invalid', 'opened', 'clicked', 'unsubscribed', 'complained')
        and not coalesce(detail ? 'machine', false);

-- The classes are those of HARD_BOUNCES (core/events/words.ts): they stand in the conditions, as a class is in no column.
create index events_hard_bounces on events (account_id, message_id, recipient_no, occurred_at)
  where type = 'bounced' and detail->>'class' in ('bad-mailbox', 'bad-domain', 'mailbox-inactive')
        and not coalesce(detail ? 'machine', false);
create index events_soft_bounces on events (account_id, message_id, recipient_no, occurred_at)
  where (type = 'expired' or (type = 'bounced' and coalesce(detail->>'class', '') not in ('bad-mailbox', 'bad-domain', 'mailbox-inactive')))
        and not coalesce(detail ? 'machine', false);
