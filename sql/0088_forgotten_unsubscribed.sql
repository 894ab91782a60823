-- expand
-- As suppressions.unsubscribed_since: of a complaint of an erased recipient who is unsubscribed, too.
alter table forgotten add column unsubscribed_since timestamptz;
