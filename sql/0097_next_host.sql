-- expand
-- The host of the domain at which the next attempt begins, as those before it were tried in the last one; null: at the first.
alter table delivery_queue add column next_host text;
