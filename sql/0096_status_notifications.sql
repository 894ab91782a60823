-- expand
-- Whether senders by SMTP are notified of failures and delays, even without NOTIFY.
alter table accounts add column mail_reports boolean not null default false;

-- A notification of a delivery that its sender gets by mail (RFC 3461). It exists until that is accepted.
create table status_notifications (
  id            bigint generated always as identity primary key,
  account_id    integer not null,
  message_id    uuid not null,
  recipient_no  integer not null,
  action        text not null check (action in ('failed', 'delayed', 'relayed')),
  -- The time of its event.
  occurred_at   timestamptz not null,
  due_at        timestamptz not null default service_now()
);
create index status_notifications_due on status_notifications (due_at);
-- Those of an account that has too many in this hour are put off together.
create index status_notifications_account on status_notifications (account_id, due_at);
