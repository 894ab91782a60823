import { LIMITS_CHANNEL } from '../delivery/overrides.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { Sql } from '../platform/database/database.ts'
import type { ReputationRules } from './rules.ts'
import { REPEATED_RECIPIENT } from './standing.ts'

/** A delivery to a recipient to whom a worker has sent several messages lately. */
export interface Repeated {
  readonly accountId: number
  /** See recipientHash. */
  readonly recipient: string
  /** UUID. */
  readonly messageId: string
}

/**
 * More than twenty messages with one subject to one recipient within ten minutes are a loop: a retry that does not end, or two machines that
 * answer each other. Workers do not report the first two.
 */
const LOOP = { messages: 18, minutes: 10, heldSeconds: 3600 } as const

/**
 * Adds deliveries to the counts of all workers, and holds mail to the recipients who got too many, for an hour, with an event. Returns the
 * accounts of those that are held from now on. With the rules `none`, nothing is held.
 */
export async function noteRepeats(
  sql: Sql,
  repeated: readonly Repeated[],
  defaultRules: ReputationRules,
): Promise<number[]> {
  const { messages, minutes, heldSeconds } = LOOP
  return sql.begin(async (transaction) => {
    const held = await transaction<{ accountId: number; messages: number }[]>`
      with counted as (
        insert into recipient_repeats as r (account_id, recipient, subject, minute, messages)
        select d.account_id, d.recipient, hashtextextended(m.subject, 0), date_trunc('minute', service_now()), count(*)
          from unnest(${repeated.map(({ accountId }) => accountId)}::int[], ${repeated.map(({ recipient }) => recipient)}::text[]::bigint[],
                      ${repeated.map(({ messageId }) => messageId)}::uuid[]) as d(account_id, recipient, message_id)
          join messages m on m.id = d.message_id
         group by 1, 2, 3 order by 1, 2, 3
        on conflict (account_id, recipient, subject, minute) do update set messages = r.messages + excluded.messages
        returning account_id, recipient, subject, minute, messages
      ), summed as (
        select c.account_id, c.recipient, c.messages + coalesce((
                 select sum(r.messages) from recipient_repeats r
                  where r.account_id = c.account_id and r.recipient = c.recipient and r.subject = c.subject and r.minute < c.minute
                    and r.minute > service_now() - make_interval(mins => ${minutes})), 0) as messages
          from counted c
      ), loop as (
        select s.account_id, s.recipient, max(s.messages) as messages
          from summed s left join account_reputation a using (account_id)
         where s.messages > ${messages} and coalesce(a.rules, ${defaultRules}) <> 'none' group by 1, 2
      ), held as (
        insert into recipient_holds as h (account_id, recipient, since, until)
        select account_id, recipient, service_now(), service_now() + make_interval(secs => ${heldSeconds}) from loop order by 1, 2
        on conflict (account_id, recipient) do update set since = excluded.since, until = excluded.until
          where h.until <= service_now()
        returning account_id, recipient
      )
      select account_id as "accountId", (loop.messages + 2)::int as messages from held join loop using (account_id, recipient)`
    for (const { accountId, messages } of held) {
      await insertEvents(transaction, {
        from: transaction`(select ${accountId}::int as account_id, null::uuid as message_id, null::int as recipient_no) account`,
        type: 'account',
        detail: { rule: REPEATED_RECIPIENT, before: 'good', after: 'held', figures: { messages, minutes } },
      })
    }
    if (held.length > 0) await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
    return held.map(({ accountId }) => accountId)
  }) as Promise<number[]>
}

/** Deletes old counts and ended holds. Returns the number of rows. */
export async function forgetRepeats(sql: Sql): Promise<number> {
  const repeats = await sql`delete from recipient_repeats where minute < service_now() - interval '15 minutes'`
  const holds = await sql`delete from recipient_holds where until < service_now() - interval '1 hour'`
  return repeats.count + holds.count
}
