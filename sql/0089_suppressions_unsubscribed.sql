-- index suppressions_unsubscribed
-- The complaints of recipients who are unsubscribed, too, as v3's list of unsubscribes reads them.
create index concurrently suppressions_unsubscribed on suppressions (account_id, group_id, value collate "C") include (unsubscribed_since, held_until)
  where unsubscribed_since is not null;
