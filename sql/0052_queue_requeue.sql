-- Jobs of `queue requeue` concern finished deliveries, which are found by account (core/messages/requeue/find-finished.ts).
alter table queue_jobs drop constraint queue_jobs_action_check;
alter table queue_jobs add constraint queue_jobs_action_check check (action in ('flush', 'fail', 'hold', 'release', 'requeue'));
-- The next chunk begins after this account, message and recipient.
alter table queue_jobs add column account_id integer not null default 0;
