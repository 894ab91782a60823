alter table queue_jobs drop constraint queue_jobs_action_check;
alter table queue_jobs
  add constraint queue_jobs_action_check check (action in ('flush', 'fail', 'hold', 'release', 'reroute', 'requeue'));
