-- expand
-- The account's sentence around unsubscribe links, of HTML and of plain text, for messages that have none of their own. If null, it is the service's.
alter table accounts add column unsubscribe_html text;
alter table accounts add column unsubscribe_text text;
