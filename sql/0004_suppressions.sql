-- Do not send: consulted at accept and again just before delivery.

create table suppressions (
  account_id  integer not null references accounts,
  scope       text not null check (scope in ('address', 'domain')),
  -- An address in its canonical lower-case form, or a lower-case A-label.
  value       text not null,
  reason      text not null check (reason in ('unsubscribe', 'hardbounce', 'abuse', 'manual', 'global')),
  since       timestamptz not null default service_now(),
  primary key (account_id, scope, value)
);
