-- What the v3 interface tells and sets besides: drops by their reason, and its event webhooks.

alter table roll_ups
  -- Of the dropped: after they were processed, so they are in both.
  add column late_dropped        bigint not null default 0,
  -- By the suppression's reason. What was counted before these columns were there has 0 until it is counted anew.
  add column bounce_dropped      bigint not null default 0,
  add column complaint_dropped   bigint not null default 0,
  add column unsubscribe_dropped bigint not null default 0;

create or replace function fold_tags(of_account integer, names text[]) returns void
language sql
as $$
  with gone as (
    delete from roll_ups where account_id = of_account and subject = 'tag' and name = any(names) returning *
  )
  insert into roll_ups as r (account_id, subject, name, day, delivery_times,
      processed, sent, deferred, hard_bounced, soft_bounced, expired, dropped, late_dropped, bounce_dropped,
      complaint_dropped, unsubscribe_dropped, invalid, opened, unique_opened, machine_opened, clicked, unique_clicked,
      machine_clicked, unsubscribed, complained)
  select account_id, 'other tag', '', day, sum_counts(delivery_times),
      sum(processed), sum(sent), sum(deferred), sum(hard_bounced), sum(soft_bounced), sum(expired), sum(dropped),
      sum(late_dropped), sum(bounce_dropped), sum(complaint_dropped), sum(unsubscribe_dropped), sum(invalid),
      sum(opened), sum(unique_opened), sum(machine_opened), sum(clicked), sum(unique_clicked), sum(machine_clicked),
      sum(unsubscribed), sum(complained)
    from gone group by account_id, day order by day
  on conflict (account_id, subject, name, day) do update
     set delivery_times = add_counts(r.delivery_times, excluded.delivery_times),
         processed = r.processed + excluded.processed, sent = r.sent + excluded.sent,
         deferred = r.deferred + excluded.deferred, hard_bounced = r.hard_bounced + excluded.hard_bounced,
         soft_bounced = r.soft_bounced + excluded.soft_bounced, expired = r.expired + excluded.expired,
         dropped = r.dropped + excluded.dropped, late_dropped = r.late_dropped + excluded.late_dropped,
         bounce_dropped = r.bounce_dropped + excluded.bounce_dropped, complaint_dropped = r.complaint_dropped + excluded.complaint_dropped,
         unsubscribe_dropped = r.unsubscribe_dropped + excluded.unsubscribe_dropped, invalid = r.invalid + excluded.invalid,
         opened = r.opened + excluded.opened, unique_opened = r.unique_opened + excluded.unique_opened,
         machine_opened = r.machine_opened + excluded.machine_opened, clicked = r.clicked + excluded.clicked,
         unique_clicked = r.unique_clicked + excluded.unique_clicked, machine_clicked = r.machine_clicked + excluded.machine_clicked,
         unsubscribed = r.unsubscribed + excluded.unsubscribed, complained = r.complained + excluded.complained;
  delete from tags where account_id = of_account and name = any(names);
$$;

alter table webhooks
  -- What the account calls it.
  add column label      text not null default '',
  -- Of the events it is told of, only those whose name in its shape is one of these. Null: all.
  add column names      text[],
  -- Requests in the v3 shape carry that shape's signature.
  add column signed     boolean not null default true,
  add column changed_at timestamptz;
