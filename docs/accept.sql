-- The statement that accepts a batch of messages (packages/core/src/messages/insert-messages.ts), as the database gets it.
-- Written by `npm run docs`; a test holds it. To be pasted into psql: with "explain (generic_plan)" in place of the first line the
-- database shows its plan (Postgres 16 or newer).
--
-- It is there twice. Most batches are written by the first form. Parts that few messages need, for lists that are bypassed, batches
-- that can be cancelled, opt-outs kept as hashes, recipients with times of their own or with large data, classes and deadlines, and
-- messages that cannot be composed, and bodies in object storage, are in a statement only if a message of the batch needs them: the second form has all of them.

prepare accept_messages as
with message as materialized (
      select * from unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::int[], $6::text[],
             $7::timestamptz[], $8::text[], $9::text[], $10::text[], $11::text[], $12::inet[],
             $13::text[], $14::int[], $15::int[], $16::int[], $17::text[], $18::bigint[],
             $19::text[], $20::text[]) with ordinality as m(id, account_id, parent_id, domain_id, api_key_id, door,
             scheduled_at, from_address, subject, tags, settings, client_address,
             format, size, parts, recipients, null_return_path, transaction_base,
             key, fingerprint, place)
    ), checked as materialized (
      select d.* ,
             case when d.key is null then 'invalid'
                  else coalesce(suppressed.reason ) end as refusal
        from unnest($21::uuid[], $22::int[], $23::int[],
                    $24::text[], $25::text[], $26::text[], $27::text[],
                    $28::text[], $29::text[], $30::int[]
                    )
             as d(message_id, account_id, recipient_no, recipient, key, domain, kind, reference, personal, group_id
                   )
        left join lateral (
    select s.reason from suppressions s
     where s.account_id = any(array[d.account_id, 0]) and s.value = any(array[d.key, d.domain])
       and s.group_id = any(array[0, d.group_id]) and (s.held_until is null or s.held_until > service_now())
     order by s.account_id desc, s.scope limit 1) suppressed on true
    ), limited_accounts as materialized (
      -- Usually empty: then no balance is charged or locked.
      select account_id from credit_balances where account_id = any($31::int[])
    ), limited as materialized (
      select * from message
       where account_id in (select account_id from limited_accounts) or parent_id in (select account_id from limited_accounts)
    ), charged as materialized (
      select charge.* from (
        select array_agg(id order by place) as ids, array_agg(account_id order by place) as accounts,
               array_agg(parent_id order by place) as parents, array_agg(key order by place) as keys,
               array_agg(fingerprint order by place) as fingerprints,
               array_agg((select count(*)::int from checked where checked.message_id = limited.id and refusal is null)
                         order by place) as costs
          from limited having count(*) > 0
      ) bill, charge_credits(ids, accounts, parents, keys, fingerprints, costs) charge
    ), keyed as (
      insert into idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      select account_id, key, decode(fingerprint, 'hex'), id, service_now() from message
       where key is not null and id not in (select message_id from charged)
      -- Every writer locks keys in the same order, so two batches never deadlock.
      order by account_id, key, place
      on conflict do nothing
      returning message_id
    ), stored as (
      insert into messages (accepted_at, id, account_id, domain_id, api_key_id, door, scheduled_at,
             from_address, subject, tags, settings, client_address, format,
             size, parts, recipients, null_return_path, transaction_base)
      select service_now(), id, account_id, domain_id, api_key_id, door, scheduled_at,
             from_address, subject, array(select jsonb_array_elements_text(tags::jsonb)), settings::jsonb, client_address, format,
             size, parts, recipients, null_return_path::boolean, transaction_base
        from message
       where case when id in (select message_id from charged)
                  then id in (select message_id from charged where verdict = 'stored')
                  else key is null or id in (select message_id from keyed) end
      returning id, scheduled_at
    ), recipient as materialized (
      select checked.*, stored.scheduled_at as scheduled_at from checked join stored on stored.id = checked.message_id
    ), used as (
      insert into credit_usage (account_id, day, slot, used)
      select account_id, (service_now() at time zone 'UTC')::date, pg_backend_pid() % 64, count(*)
        from recipient where refusal is null group by account_id
      -- As with keys, the same order in every writer; after the balances and the keys.
      order by account_id
      on conflict (account_id, day, slot) do update set used = credit_usage.used + excluded.used
    ), queued as (
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, reference, personal, group_id, next_at, expires_at )
      select message_id, recipient_no, account_id, case when scheduled_at > service_now() then 'scheduled' else 'queued' end,
             recipient, key, domain, kind, reference, personal::jsonb, group_id, greatest(scheduled_at, service_now()),
             greatest(scheduled_at, service_now()) + make_interval(secs => $32::int)
        from recipient where refusal is null
      returning message_id
    ), finished as (
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key,
           recipient_domain, kind, reference, personal, attempt, reason, finished_at)
    select message_id, recipient_no, account_id, $33::text, recipient,
           coalesce(key, lower(recipient)), domain,
           kind, reference, personal::jsonb,
           0, refusal, service_now()
      from recipient where refusal is not null
    ), new_events as (
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), account_id, case when refusal is null then 'processed' when refusal = 'invalid' then 'invalid' else 'dropped' end, message_id, recipient_no,
           case when refusal <> 'invalid' then jsonb_build_object('reason', refusal)
                     end
      from recipient
    ), body as (
      insert into bodies (message_id, part, encoding, content, digest)
      select b.message_id, b.part, b.encoding, substring(whole.octets from b.start for b.length), b.digest
        from unnest($34::uuid[], $35::int[], $36::text[], $37::int[],
                    $38::int[], $39::int[])
             as b(message_id, part, encoding, start, length, digest)
        join stored on stored.id = b.message_id
        cross join (select $40::bytea) as whole(octets)
    )
    select id::text as id, id in (select message_id from queued) as queued, false as refused from stored
    union all
    select message_id::text, false, true from charged where verdict = 'refused';

prepare accept_any_messages as
with recursive
      batch as materialized (
        select b.account_id, b.id, b.state from batches b
         where (b.account_id, b.id) in (select * from unnest($1::int[],
                                                             $2::text[]))
         order by b.account_id, b.id for share
      ), batched as materialized (
        select m.message_id, b.id, b.state
          from unnest($3::uuid[], $4::int[],
                      $5::text[]) as m(message_id, account_id, batch_id)
          join batch b on b.account_id = m.account_id and b.id = m.batch_id
      ), message as materialized (
      select * from unnest($6::uuid[], $7::int[], $8::int[], $9::int[], $10::int[], $11::text[],
             $12::timestamptz[], $13::text[], $14::text[], $15::text[], $16::text[], $17::inet[],
             $18::text[], $19::int[], $20::int[], $21::int[], $22::text[], $23::bigint[],
             $24::text[], $25::text[]) with ordinality as m(id, account_id, parent_id, domain_id, api_key_id, door,
             scheduled_at, from_address, subject, tags, settings, client_address,
             format, size, parts, recipients, null_return_path, transaction_base,
             key, fingerprint, place)
    ), checked as materialized (
      select d.* , string_to_array(passing.list, ',') as bypass , unusable.reason as unusable, unusable.problem,
             case when d.key is null then 'invalid'
                  else coalesce(suppressed.reason , opted_out.reason , unusable.reason , case when batched.state = 'cancel' then 'cancelled' end) end as refusal
        from unnest($26::uuid[], $27::int[], $28::int[],
                    $29::text[], $30::text[], $31::text[], $32::text[],
                    $33::text[], $34::text[], $35::int[] , $36::text[]
                    , $37::timestamptz[], $38::int[], $39::int[])
             as d(message_id, account_id, recipient_no, recipient, key, domain, kind, reference, personal, group_id
                  , hash , own_time, data_start, data_length)
        left join unnest($40::uuid[], $41::text[])
               as passing(message_id, list) on passing.message_id = d.message_id
        left join lateral (
    select s.reason from suppressions s
     where s.account_id = any(array[d.account_id, 0]) and s.value = any(array[d.key, d.domain])
       and s.group_id = any(array[0, d.group_id]) and (s.held_until is null or s.held_until > service_now())
       and
    (string_to_array(passing.list, ',') is null or s.account_id = 0 or not (string_to_array(passing.list, ',') && array['all', case when s.group_id = 0 and not (s.manual_since is not null) and (not (s.unsubscribed_since is not null) or 'unsubscribe' = any(string_to_array(passing.list, ','))) then s.reason end]))
     order by s.account_id desc, s.scope limit 1) suppressed on true
        left join lateral (
          select f.reason from forgotten f
           where f.account_id = d.account_id and f.hash = decode(d.hash, 'hex')
             and f.group_id = any(array[0, d.group_id]) and (f.held_until is null or f.held_until > service_now())
             and
    (string_to_array(passing.list, ',') is null or f.account_id = 0 or not (string_to_array(passing.list, ',') && array['all', case when f.group_id = 0 and not false and (not (f.unsubscribed_since is not null) or 'unsubscribe' = any(string_to_array(passing.list, ','))) then f.reason end]))
           limit 1) opted_out on true
        left join unnest($42::uuid[], $43::text[],
                         $44::text[])
               as unusable(message_id, reason, problem) on unusable.message_id = d.message_id
        left join batched on batched.message_id = d.message_id
    ), limited_accounts as materialized (
      -- Usually empty: then no balance is charged or locked.
      select account_id from credit_balances where account_id = any($45::int[])
    ), limited as materialized (
      select * from message
       where account_id in (select account_id from limited_accounts) or parent_id in (select account_id from limited_accounts)
    ), charged as materialized (
      select charge.* from (
        select array_agg(id order by place) as ids, array_agg(account_id order by place) as accounts,
               array_agg(parent_id order by place) as parents, array_agg(key order by place) as keys,
               array_agg(fingerprint order by place) as fingerprints,
               array_agg((select count(*)::int from checked where checked.message_id = limited.id and refusal is null)
                         order by place) as costs
          from limited having count(*) > 0
      ) bill, charge_credits(ids, accounts, parents, keys, fingerprints, costs) charge
    ), keyed as (
      insert into idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      select account_id, key, decode(fingerprint, 'hex'), id, service_now() from message
       where key is not null and id not in (select message_id from charged)
      -- Every writer locks keys in the same order, so two batches never deadlock.
      order by account_id, key, place
      on conflict do nothing
      returning message_id
    ), stored as (
      insert into messages (accepted_at, id, account_id, domain_id, api_key_id, door, scheduled_at,
             from_address, subject, tags, settings, client_address, format,
             size, parts, recipients, null_return_path, transaction_base)
      select service_now(), id, account_id, domain_id, api_key_id, door, scheduled_at,
             from_address, subject, array(select jsonb_array_elements_text(tags::jsonb)), settings::jsonb, client_address, format,
             size, parts, recipients, null_return_path::boolean, transaction_base
        from message
       where case when id in (select message_id from charged)
                  then id in (select message_id from charged where verdict = 'stored')
                  else key is null or id in (select message_id from keyed) end
      returning id, scheduled_at
    ), recipient as materialized (
      select checked.*, coalesce(checked.own_time, stored.scheduled_at) as scheduled_at , urgency.class, urgency.lifetime, urgency.lowered from checked join stored on stored.id = checked.message_id
        left join unnest($46::uuid[], $47::int[],
                         $48::int[],
                         $49::text[]::boolean[])
               as urgency(message_id, class, lifetime, lowered) on urgency.message_id = checked.message_id
    ), used as (
      insert into credit_usage (account_id, day, slot, used)
      select account_id, (service_now() at time zone 'UTC')::date, pg_backend_pid() % 64, count(*)
        from recipient where refusal is null group by account_id
      -- As with keys, the same order in every writer; after the balances and the keys.
      order by account_id
      on conflict (account_id, day, slot) do update set used = credit_usage.used + excluded.used
    ), joined as (
      insert into batch_messages (account_id, batch_id, message_id)
      select m.account_id, batched.id, m.id from batched join message m on m.id = batched.message_id
       where m.id in (select id from stored)
    ), queued as (
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, reference, personal, group_id, next_at, expires_at , class , bypass)
      select message_id, recipient_no, account_id, case when scheduled_at > service_now() then 'scheduled' else 'queued' end,
             recipient, key, domain, kind, reference, nullif(convert_from(substring((select octets from whole) from data_start for data_length), 'UTF8'), '')::jsonb, group_id,
      case when scheduled_at > service_now()
                and exists (select from batched b where b.message_id = recipient.message_id and b.state = 'pause')
           then $50::timestamptz else greatest(scheduled_at, service_now()) end,
             greatest(scheduled_at, service_now()) + make_interval(secs => coalesce(lifetime, $51::int)) , coalesce(class, $52::int) , bypass
        from recipient where refusal is null
      returning message_id
    ), finished as (
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key,
           recipient_domain, kind, reference, personal, attempt, reason, finished_at)
    select message_id, recipient_no, account_id, $53::text, recipient,
           coalesce(key, lower(recipient)), domain,
           kind, reference, nullif(convert_from(substring((select octets from whole) from data_start for data_length), 'UTF8'), '')::jsonb,
           0, refusal, service_now()
      from recipient where refusal is not null
    ), new_events as (
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), account_id, case when refusal is null then 'processed' when refusal = 'invalid' then 'invalid' else 'dropped' end, message_id, recipient_no,
           case when refusal <> 'invalid' then jsonb_build_object('reason', refusal)
               || case when refusal = unusable and problem is not null then jsonb_build_object('problem', problem) else '{}' end
               when refusal is null and lowered then jsonb_build_object('class', $54::text) end
      from recipient
    ), body as (
      insert into bodies (message_id, part, encoding, content, digest, object_length)
      select b.message_id, b.part, b.encoding, substring(whole.octets from b.start for b.length), b.digest, b.object_length
        from unnest($55::uuid[], $56::int[], $57::text[], $58::int[],
                    $59::int[], $60::int[], $61::int[])
             as b(message_id, part, encoding, start, length, digest, object_length)
        join stored on stored.id = b.message_id
        cross join whole
    ), whole as not materialized (select $62::bytea as octets)
    select id::text as id, id in (select message_id from queued) as queued, false as refused from stored
    union all
    select message_id::text, false, true from charged where verdict = 'refused';
