-- expand
-- Of a complaint of a recipient who is unsubscribed, too: since when. The unsubscribe is back when the sender removes the complaint.
alter table suppressions add column unsubscribed_since timestamptz;
