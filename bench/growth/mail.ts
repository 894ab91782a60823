import type { Sql } from '@postrider/core'
import type { Owners } from './owners.ts'
import { PERSON, type Scale } from './scale.ts'

/** Since when there is mail, and until when. */
export interface Time {
  readonly begin: Date
  readonly end: Date
}

/** Messages from number `first` on, before `last`, with all that became of them. */
export interface Chunk {
  readonly first: number
  readonly last: number
}

/**
 * Writes a chunk, each table in one statement, in the order of time as a running service does: the messages are planned in a table
 * of the session's own, and everything else is told from that plan. Events have the transactions of another server, numbered by the
 * second, as if the database came from a dump.
 */
export async function fillMail(
  sql: Sql,
  chunk: Chunk,
  of: { scale: Scale; owners: Owners; time: Time },
): Promise<void> {
  await plan(sql, chunk, of)
  await sql`
    insert into messages (id, account_id, domain_id, door, accepted_at, scheduled_at, from_address, subject, tags, client_address,
           format, size, parts, recipients, transaction_base)
    select id, account_id, domain_id, 'v3', at, case when state = 'scheduled' then now() + interval '30 days' end,
           'desk@' || domain, case when h % 10 = 0 then 'Your weekly digest' else 'Order ' || i || ' has left our harbour' end,
           array['tag-' || lpad((h % 500)::text, 6, '0')], '192.0.2.1', 'content', 2000, 1, 1,
           floor(extract(epoch from at))::bigint * 10000000 + i % 2500000 * 4
      from planned order by i`
  await sql`
    insert into bodies (message_id, part, encoding, content)
    select id, 0, 'raw', convert_to(json_build_object('from', json_build_object('email', 'desk@' || domain, 'name', 'Desk'),
             'subject', 'Order ' || i || ' has left our harbour', 'html', '<p>Dear reader, your order has left.</p>')::text, 'UTF8')
      from planned order by i`
  await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           reference, next_at, expires_at, attempt)
    select id, 0, account_id, state, recipient, recipient, recipient_domain, 'to', 'order-' || i,
           now() + interval '30 days' + i % 86400 * interval '1 s', now() + interval '33 days', case when state = 'deferred' then 1 else 0 end
      from planned where state in ('scheduled', 'deferred') order by i`
  await sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           reference, attempt, reason, finished_at)
    select id, 0, account_id, case state when 'invalid' then 'dropped' else state end, recipient, recipient, recipient_domain, 'to',
           'order-' || i, case when state in ('dropped', 'invalid') then 0 else tries end,
           case state when 'dropped' then 'hardbounce' when 'invalid' then 'invalid' end, at + tries * interval '2 s'
      from planned where state not in ('scheduled', 'deferred') order by i`
  await sql`
    insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, stage, host, address,
           tls, code, enhanced, reply, conversation)
    select id, 0, try, account_id, 1, case when try < tries or state = 'deferred' then 'deferred' else state end, at + try * interval '2 s', 90, 'dot',
           'mx1.' || recipient_domain, '192.0.2.25', 'TLSv1.3',
            case when try < tries or state = 'deferred' then 451 when state = 'bounced' then 550 else 250 end, '2.0.0',
           'Ok: queued as 4F2A1B3C5D',
           ('[{"step":"mail","ms":1.2,"code":250,"enhanced":"2.1.0","text":"ok"},' ||
            '{"step":"rcpt","ms":1.2,"code":250,"enhanced":"2.1.0","text":"ok"},{"step":"dot","ms":1.2,"code":250,"enhanced":"2.0.0","text":"ok"}]')::json
      from planned cross join generate_series(1, tries) try where state in ('delivered', 'bounced', 'deferred') order by i`
  await fillEvents(sql, of.time)
  await sql`
    insert into engagements (message_id, recipient_no, kind, machine, total, hour, in_hour)
    select id, 0, kind, machine, 1, date_trunc('hour', at), 1 from planned
     cross join lateral (values ('opened', false, opened), ('opened', true, scanned), ('clicked', false, clicked)) of_its(kind, machine, met)
     where met order by i`
  await sql`drop table planned`
}

async function plan(
  sql: Sql,
  { first, last }: Chunk,
  { scale, owners, time }: { scale: Scale; owners: Owners; time: Time },
): Promise<void> {
  const { shares, sent, waiting, days, waitingDays, mediums, mediumDomains, smalls, largeDomains, personEvery } = scale
  const all = shares.large + shares.medium + shares.small
  await sql.unsafe(
    `
    create temp table planned as
    select *, 'r' || h % 1000000 as reader,
           case when is_person then '${PERSON}' else 'r' || h % 1000000 || '@d' || h % 10000 || '.example' end as recipient,
           case when is_person then 'reader.example' else 'd' || h % 10000 || '.example' end as recipient_domain,
           (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(hex, 1, 3) || '8' || substr(hex, 4, 15))::uuid as id,
           case when state in ('delivered', 'bounced') and h / 1000 % 20 = 0 then 2 else 1 end as tries,
           state = 'delivered' and h / 20000 % 2 = 0 as opened,
           state = 'delivered' and h / 7 % 8 = 0 as scanned,
           state = 'delivered' and h / 20000 % 2 = 0 and h / 11 % 4 = 0 as clicked
      from (
        select i, h, at, hex, account_id, domain_id,
               case when account_id = ${owners.large} then 'large-' || domain_id - ${owners.firstLargeDomain}
                    when account_id < ${owners.firstSmall} then 'medium-' || domain_id - ${owners.firstMediumDomain}
                    else 'small-' || domain_id - ${owners.firstSmallDomain} end || '.example' as domain,
               account_id = ${owners.large} and g / ${all} % ${personEvery} = 0 and i < ${sent} as is_person,
               case when i >= ${sent} then case when h % 2 = 0 then 'scheduled' else 'deferred' end
                    when h % 1000 < 40 then 'bounced' when h % 1000 < 50 then 'dropped' when h % 1000 < 53 then 'invalid' else 'delivered' end as state
          from (
            select i, h, g, at, hex, account_id,
                   case when account_id = ${owners.large}
                        then ${owners.firstLargeDomain} + case when h % 10 < 6 then 0 else h / 10 % ${largeDomains} end
                        when account_id < ${owners.firstSmall}
                        then ${owners.firstMediumDomain} + (account_id - ${owners.firstMedium}) * ${mediumDomains} + h / 10 % ${mediumDomains}
                        else ${owners.firstSmallDomain} + account_id - ${owners.firstSmall} end as domain_id
              from (
                select i, h, g, md5(i::text) as hex,
                       case when i < ${sent} then '${time.begin.toISOString()}'::timestamptz + i * (interval '${days} days' / ${sent})
                            else '${time.end.toISOString()}'::timestamptz - interval '${waitingDays} days' + (i - ${sent}) * (interval
                      '${waitingDays} days' / ${waiting}) end as at,
                       case when g % ${all} < ${shares.large} then ${owners.large}
                            when g % ${all} < ${shares.large + shares.medium} then ${owners.firstMedium} + h % ${mediums}
                            else ${owners.firstSmall} + g / ${all} % ${smalls} end as account_id
                  from (select i, (hashint8extended(i, 1) & 2147483647)::integer as h, (hashint8extended(i, 2) & 2147483647)::integer as g
                          from generate_series(${first}, ${last - 1}) i) drawn
              ) owned) placed) sent`,
  )
}

const SENT = `'attempt', tries, 'host', 'mx1.' || recipient_domain, 'tls', 'TLSv1.3'`
const MET = `'first', true, 'rules', 1, 'ip', '192.0.2.7', 'userAgent', 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0'`

/** What happened: when it did, after the accept; its type, detail, and the condition. */
const HAPPENED: readonly (readonly [after: string, type: string, detail: string, when: string])[] = [
  ['0 s', 'processed', 'null', `state not in ('dropped', 'invalid')`],
  ['0 s', 'dropped', `'{"reason": "hardbounce"}'`, `state = 'dropped'`],
  ['0 s', 'invalid', 'null', `state = 'invalid'`],
  [
    '2 s',
    'deferred',
    `jsonb_build_object('attempt', 1, 'host', 'mx1.' || recipient_domain, 'code', 451, 'reply', 'Try again later')`,
    `tries = 2 or state = 'deferred'`,
  ],
  [
    '4 s',
    'sent',
    `jsonb_build_object(${SENT}, 'code', 250, 'enhanced', '2.0.0', 'reply', 'Ok: queued as 4F2A1B3C5D')`,
    `state = 'delivered'`,
  ],
  [
    '4 s',
    'bounced',
    `jsonb_build_object(${SENT}, 'code', 550, 'enhanced', '5.1.1', 'reply', 'No such mailbox here',
      'class', case when h % 1000 < 15 then 'bad-mailbox' else 'policy' end)`,
    `state = 'bounced'`,
  ],
  ['60 s', 'opened', `jsonb_build_object('machine', 'gateway', 'rules', 1, 'ip', '192.0.2.9')`, 'scanned'],
  ['2 h', 'opened', `jsonb_build_object(${MET})`, 'opened'],
  ['9 h', 'opened', `jsonb_build_object(${MET}) - 'first'`, 'opened and h / 40000 % 5 = 0'],
  ['3 h', 'clicked', `jsonb_build_object(${MET}, 'url', 'https://shop.example/orders/' || i)`, 'clicked'],
  ['4 h', 'unsubscribed', `'{"ip": "192.0.2.7"}'`, 'opened and h / 13 % 100 = 0'],
  ['5 h', 'complained', `'{}'`, 'opened and h / 17 % 300 = 0'],
]

async function fillEvents(sql: Sql, { begin, end }: Time): Promise<void> {
  const branches = HAPPENED.map(
    ([after, type, detail, when]) =>
      `select at + interval '${after}' as occurred_at, '${type}' as type, (${detail})::jsonb as detail where ${when}`,
  )
  await sql.unsafe(`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail, transaction)
    select told.occurred_at, account_id, type, id, 0, detail,
           (1 + floor(extract(epoch from told.occurred_at - '${begin.toISOString()}'::timestamptz)))::bigint::text::xid8
      from (select least(e.occurred_at, '${end.toISOString()}'::timestamptz) as occurred_at, e.type, e.detail, p.account_id, p.id, p.i
              from planned p cross join lateral (${branches.join(' union all ')}) e) told
     order by i`)
}
