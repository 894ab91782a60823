-- expand
-- Of an unsubscribe in the place of an entry that the sender made: since when that was. It is back when the recipient takes the unsubscribe back.
alter table suppressions add column manual_since timestamptz;
