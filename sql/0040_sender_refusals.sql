-- Replies about the sender's address ("Sender verify failed", "<our return path>: User unknown") were read as a bad mailbox, and their
-- recipients suppressed. What such a reply made is lifted, where no other reply told of the mailbox itself. The audit log of each account
-- names the messages, and with them the recipients.
create temporary table about_sender on commit drop as
  select f.account_id, f.recipient_key, f.finished_at, f.message_id, f.recipient_no
    from attempts a
    join finished_deliveries f on f.message_id = a.message_id and f.recipient_no = a.recipient_no
   where a.outcome = 'bounced' and a.stage in ('rcpt', 'data', 'dot') and f.recipient_key is not null
     and (a.reply ~* '\ysender (address )?(verif|rejected|refused|denied)'
          or (strpos(lower(a.reply), lower(f.recipient)) = 0
              and a.reply ~* '\yverification failed for\y|\y(sender|return[- ]path|mail[- ]?from|envelope[- ]from)( address| domain| is| was| does| could| be| not){0,4} (rejected|refused|denied|verif|unverif|invalid|unknown|not found|not exist|exist|found)|\y(unknown|invalid|unverified|unroutable|non-?existent) (sender|return[- ]path|mail[- ]?from)\y|b-[a-z2-7]{50}@'));
-- A restored database has no statistics, and without them what follows would read all suppressions for each reply.
analyze about_sender, suppressions;
with made as (
  select s.account_id, s.value, min(w.message_id::text) as message_id
    from about_sender w
    join suppressions s on s.account_id = w.account_id and s.value = w.recipient_key and s.group_id = 0
   where s.scope = 'address' and s.reason = 'hardbounce'
     -- Entry and verdict are written by one statement.
     and s.since between w.finished_at - interval '1 minute' and w.finished_at + interval '1 minute'
     and not exists (
       select from finished_deliveries f
         join events e on e.message_id = f.message_id and e.recipient_no = f.recipient_no and e.type = 'bounced'
        where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(s.value, s.account_id)
          and f.account_id = s.account_id and f.recipient_key = s.value and e.detail->>'class' = 'bad-mailbox'
          and not exists (select from about_sender o where o.message_id = f.message_id and o.recipient_no = f.recipient_no))
   group by s.account_id, s.value
), lifted as (
  delete from suppressions s using made m
   where s.account_id = m.account_id and s.value = m.value and s.group_id = 0
  returning s.account_id, m.message_id
)
select audit_note(account_id, null::integer, null::inet, 'suppression.lift', count(*) || ' entries made by replies about the sender', null::jsonb,
                  jsonb_build_object('messages', jsonb_agg(replace(message_id, '-', '') order by message_id)))
  from lifted group by account_id;
