-- expand
-- The site whose hosts were away or refused sessions in the last attempt: the delivery is due once one of them takes mail. Empty after that, until
-- its next attempt is recorded. Null otherwise.
alter table delivery_queue add column unreached text;
