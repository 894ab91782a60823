-- A mailbox that is inactive may be used again: a soft bounce. Addresses that have moved, and domains that accept no mail, are hard ones, like
-- those that do not exist. The classes are those of HARD_BOUNCES (core/reporting/events/texts.ts), as in 0037.
-- Like 0037 this reads every event, in which time no event is written; with 27.7 million events half as long.

drop index events_hard_bounces;
create index events_hard_bounces on events (account_id, message_id, recipient_no, occurred_at)
  where type = 'bounced' and detail->>'class' in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting')
        and not coalesce(detail ? 'machine', false);
drop index events_soft_bounces;
create index events_soft_bounces on events (account_id, message_id, recipient_no, occurred_at)
  where (type = 'expired' or (type = 'bounced' and coalesce(detail->>'class', '') not in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting')))
        and not coalesce(detail ? 'machine', false);
