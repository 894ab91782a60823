-- expand
-- Limits the events of messages to those from these domains, and to those with one of these tags. If null, there is no limit.
alter table webhooks add column domains text[];
alter table webhooks add column tags text[];
