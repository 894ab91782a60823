-- expand
-- Numbers are given without waiting for a transaction that another program left open (0107). Events that it writes afterwards would never be numbered, so
-- no feed, webhook or statistic would have them: it is refused. Sessions of this service are always waited for, and have no part in this.
create function refuse_late_events() returns trigger
language plpgsql
as $$
begin
  if exists (
    select from event_cursors
     where name = 'numbers' and pg_current_xact_id()::text::bigint + transaction_offset <= transaction::text::bigint) then
    raise exception 'this transaction is too old to write events: later ones have been numbered without it'
      using hint = 'End it, and begin another one with the events.';
  end if;
  return null;
end
$$;
create trigger events_refuse_late before insert on events for each statement
  when (current_setting('application_name') not like 'postrider %') execute function refuse_late_events();
