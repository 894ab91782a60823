import { LIMITS_CHANNEL } from '../delivery/limits/overrides.ts'
import type { Sql } from '../platform/database/database.ts'
import { noteStanding } from './account-change.ts'
import { REPEATED_RECIPIENT } from './other-holds.ts'
import type { ReputationRules } from './rules.ts'

/** A delivery to a recipient to whom a worker has sent several messages lately. */
export interface Repeated {
  readonly accountId: number
  /** See recipientHash. */
  readonly recipient: string
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
}

/**
 * More than twenty equal messages to one recipient within ten minutes, or a hundred with one subject, are a loop: a retry that does not end, or two
 * machines that answer each other. Equal are those with the same content and the same data of the recipient. Workers do not report the first two.
 */
const LOOP = { equal: 18, sameSubject: 98, minutes: 10, heldSeconds: 3600 } as const
/** Bytes of each part that are compared; of one in object storage, only its length. */
const READ = 8192
/** Rows deleted at once. */
const CHUNK = 5000
/** Seconds after a release of the account in which no recipient is held: what waited is sent then. */
const RELEASED_SECONDS = 3600

/**
 * Adds deliveries to the counts of all workers, and holds mail to the recipients who got too many, for an hour, with an event. Returns the
 * accounts of those that are held from now on. With the rules `none`, nothing is held.
 */
export async function noteRepeats(
  sql: Sql,
  repeated: readonly Repeated[],
  defaultRules: ReputationRules,
): Promise<number[]> {
  const { equal, sameSubject, minutes, heldSeconds } = LOOP
  return sql.begin(async (transaction) => {
    const held = await transaction<{ accountId: number; messages: number }[]>`
      with delivery as (
        select d.account_id, d.recipient, m.subject, coalesce(q.personal::text, '') as personal,
               coalesce((
                 select string_agg(case when b.object_length is null then octet_length(b.content) || ' ' || md5(substring(b.content for ${READ}))
                                   else b.object_length::text end, ',' order by b.part)
                   from bodies b where b.message_id = m.id), '') as content
          from unnest(${repeated.map(({ accountId }) => accountId)}::int[], ${repeated.map(({ recipient }) => recipient)}::text[]::bigint[],
                      ${repeated.map(({ messageId }) => messageId)}::uuid[], ${repeated.map(({ recipientNo }) => recipientNo)}::int[])
               as d(account_id, recipient, message_id, recipient_no)
          join messages m on m.id = d.message_id
          left join lateral (
            select personal from delivery_queue where message_id = d.message_id and recipient_no = d.recipient_no
            union all
            select personal from finished_deliveries where message_id = d.message_id and recipient_no = d.recipient_no
            limit 1) q on true
      ), counted as (
        insert into recipient_repeats as r (account_id, recipient, message, is_subject, minute, messages)
        select account_id, recipient, hashtextextended(case when is_subject then subject || personal else subject || personal || content end, 0),
               is_subject, date_trunc('minute', service_now()), count(*)
          from delivery cross join unnest(array[false, true]) is_subject
         group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (account_id, recipient, message, is_subject, minute) do update set messages = r.messages + excluded.messages
        returning account_id, recipient, message, is_subject, minute, messages
      ), summed as (
        select c.account_id, c.recipient, c.is_subject, c.messages + coalesce((
                 select sum(r.messages) from recipient_repeats r
                  where r.account_id = c.account_id and r.recipient = c.recipient and r.message = c.message and r.is_subject = c.is_subject
                    and r.minute < c.minute and r.minute > service_now() - make_interval(mins => ${minutes})), 0) as messages
          from counted c
      ), loop as (
        select s.account_id, s.recipient, max(s.messages) as messages
          from summed s left join account_reputation a using (account_id)
         where s.messages > case when s.is_subject then ${sameSubject}::int else ${equal}::int end
           and coalesce(a.rules, ${defaultRules}) <> 'none'
           and coalesce(a.since < service_now() - make_interval(secs => ${RELEASED_SECONDS}), true)
         group by 1, 2
      ), held as (
        insert into recipient_holds as h (account_id, recipient, since, until)
        select account_id, recipient, service_now(), service_now() + make_interval(secs => ${heldSeconds}) from loop order by 1, 2
        on conflict (account_id, recipient) do update set since = excluded.since, until = excluded.until
          where h.until <= service_now()
        returning account_id, recipient
      )
      select account_id as "accountId", (loop.messages + 2)::int as messages from held join loop using (account_id, recipient)`
    for (const { accountId, messages } of held) {
      const detail = { rule: REPEATED_RECIPIENT, before: 'good', after: 'held', figures: { messages, minutes } }
      await noteStanding(transaction, accountId, detail)
    }
    if (held.length > 0) await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
    return held.map(({ accountId }) => accountId)
  }) as Promise<number[]>
}

/** Deletes some old counts and ended holds. Returns the number of rows. */
export async function forgetRepeats(sql: Sql): Promise<number> {
  const repeats = await sql`
    delete from recipient_repeats where (account_id, recipient, message, is_subject, minute) in (
      select account_id, recipient, message, is_subject, minute from recipient_repeats
       where minute < service_now() - interval '15 minutes' limit ${CHUNK})`
  const holds = await sql`
    delete from recipient_holds where (account_id, recipient) in (
      select account_id, recipient from recipient_holds where until < service_now() - interval '1 hour' limit ${CHUNK})`
  return repeats.count + holds.count
}
