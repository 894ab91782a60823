-- The v3 lists: by reason, from a prefix on, with what a window of time is judged by, so that a look at a large list reads this alone.
-- In the order of octets, whatever the database's own is: what begins with a text lies together.
create index suppressions_browse on suppressions (account_id, reason, group_id, value collate "C") include (since, held_until);
