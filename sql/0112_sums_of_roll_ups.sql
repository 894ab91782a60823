-- expand
-- Statistics by name of accounts with many names are read from sums that are made when a day and a week are over.

alter table roll_ups drop constraint roll_ups_subject_check;
alter table roll_ups add constraint roll_ups_subject_check check (subject in (
  'total', 'domain', 'tag', 'recipient_domain', 'other tag', 'other recipient_domain',
  -- All names of the day together (name '').
  'all domain', 'all tag', 'all recipient_domain',
  -- Each name in the week that begins on the day, a Monday.
  'domain week', 'tag week', 'recipient_domain week', 'other tag week', 'other recipient_domain week')) not valid;

-- An account with many names of a subject. The days before `through` are summed for all names together; each name is summed over the weeks
-- that end before it. What happens late is added to its day and to these sums. Written with the row of event_cursors locked.
create table roll_up_sums (
  account_id  integer not null,
  subject     text collate "C" not null check (subject in ('domain', 'tag', 'recipient_domain')),
  through     date not null,
  primary key (account_id, subject)
);

-- As before (0012), with the sums by week.
create or replace function fold_tags(of_account integer, names text[]) returns void
language sql
as $$
  with gone as (
    delete from roll_ups where account_id = of_account and subject in ('tag', 'tag week') and name = any(names) returning *
  )
  insert into roll_ups as r (account_id, subject, name, day, delivery_times,
      processed, sent, deferred, hard_bounced, soft_bounced, expired, dropped, late_dropped, bounce_dropped,
      complaint_dropped, unsubscribe_dropped, invalid, opened, unique_opened, machine_opened, clicked, unique_clicked,
      machine_clicked, unsubscribed, complained)
  select account_id, 'other ' || subject, '', day, sum_counts(delivery_times),
      sum(processed), sum(sent), sum(deferred), sum(hard_bounced), sum(soft_bounced), sum(expired), sum(dropped),
      sum(late_dropped), sum(bounce_dropped), sum(complaint_dropped), sum(unsubscribe_dropped), sum(invalid),
      sum(opened), sum(unique_opened), sum(machine_opened), sum(clicked), sum(unique_clicked), sum(machine_clicked),
      sum(unsubscribed), sum(complained)
    from gone group by account_id, subject, day order by subject, day
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
