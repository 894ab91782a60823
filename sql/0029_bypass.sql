-- Lists that do not hold a message its sender must get through: `all`, or the reasons of entries for all mail. Null, as a rule:
-- nothing is bypassed.
alter table delivery_queue add column bypass text[];
