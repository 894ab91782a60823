import type { Sql } from '../../../platform/database/database.ts'
import { parseMessageId } from '../../../submission/message-id.ts'
import { RING } from '../store.ts'

/** A request with events of one message. */
export interface WebhookCall {
  readonly webhookId: number
  readonly requestId: number
  readonly url: string
  readonly at: Date
  readonly attempt: number
  /** Null if there was no response. */
  readonly status: number | null
  readonly milliseconds: number
  readonly problem: string | null
  /** The types of the message's events in it. */
  readonly types: readonly string[]
}

/** Events of a message that are looked for, the first ones. For each, the page of its number is counted up to it. */
const MAX_EVENTS = 20
const MAX_CALLS = 20

/** Requests of each webhook that are looked through, of those that succeeded and of those that failed. */
const MAX_LOOKED = 500

/**
 * Returns the requests with events of a message, the latest first. The latest requests of each webhook are looked through; the pages of event numbers before
 * these are not read.
 */
export async function madeFor(sql: Sql, accountId: number, messageId: string): Promise<WebhookCall[]> {
  const id = parseMessageId(messageId)
  if (id === undefined) return []
  return sql<WebhookCall[]>`
    with message as materialized (
      select accepted_at from messages where id = ${id}::uuid and account_id = ${accountId}::int
    ), call as materialized (
      select d.webhook_id, d.at, d.attempt, d.status, d.milliseconds, d.problem, d.after_number, d.to_number, w.url, w.events as told
        from message m cross join webhooks w cross join generate_series(0, ${MAX_LOOKED - 1}) n cross join (values (0), (${RING})) ring(first)
        join webhook_deliveries d on d.webhook_id = w.id
         and d.place = ring.first + (case ring.first when 0 then w.succeeded else w.failed end - n) % ${RING}
       where w.account_id = ${accountId}::int and d.at >= m.accepted_at and n < case ring.first when 0 then w.succeeded else w.failed end
    ), page as materialized (
      select p.* from event_pages p
       where p.account_id = ${accountId}::int and p.first_number <= (select max(to_number) from call)
         and p.first_number >= coalesce((select first_number from event_pages f
                                          where f.account_id = ${accountId}::int and f.first_number <= (select min(after_number) + 1 from call)
                                          order by f.first_number desc limit 1), 0)
    ), own as materialized (
      select e.id, e.transaction, e.type, e.occurred_at from message m join events e on e.occurred_at >= m.accepted_at - interval '1 day'
       where e.message_id = ${id}::uuid and exists (select from call) order by e.id limit ${MAX_EVENTS}
    ), numbered as (
      select o.type, p.first_number + before.count as number
        from own o join page p on o.transaction > p.after_transaction and o.transaction <= p.to_transaction
                              and o.occurred_at >= p.week and o.occurred_at < p.week + interval '7 days'
       cross join lateral (
         select count(*) from events x
          where x.account_id = ${accountId}::int and x.transaction > p.after_transaction and x.transaction <= o.transaction
            and (x.transaction < o.transaction or x.id < o.id)
            and x.occurred_at >= p.week and x.occurred_at < p.week + interval '7 days') before
    )
    select c.webhook_id as "webhookId", (extract(epoch from c.at) * 1000000)::float8 as "requestId", c.url, c.at, c.attempt, c.status, c.milliseconds,
           c.problem, array_agg(distinct n.type) as types
      from call c join numbered n on n.number > c.after_number and n.number <= c.to_number and n.type = any(c.told)
     group by 1, 2, 3, 4, 5, 6, 7, 8 order by c.at desc limit ${MAX_CALLS}`
}
