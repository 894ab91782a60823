-- expand
-- The address that mail of hosts without a sending domain is sent from, by SMTP; null if it is refused.
alter table accounts add column fallback_sender text;
