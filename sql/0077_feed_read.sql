-- When the event feed was read first: the dashboard's first steps end with it, or with a webhook.
alter table accounts add column feed_read_at timestamptz;
