import type { Event, EventDelivery } from '../../events/event.ts'
import type { EventDetail } from '../../events/event-detail.ts'
import type { EventType } from '../../events/event-types.ts'
import type { AnySql } from '../../platform/database/database.ts'

export interface EventQuery {
  readonly accountId: number
  /** Only events after this sequence number. */
  readonly after: number
  readonly limit: number
  /** Only events of these types; undefined for all. */
  readonly types?: readonly EventType[] | undefined
}

export interface EventPage {
  /** In the order of their sequence numbers. */
  readonly events: readonly Event[]
  /** Value of `after` for the next query: all events up to this number have been read. */
  readonly next: number
}

interface Row extends Omit<EventDelivery, 'recipientNo'> {
  readonly id: string
  readonly number: number
  readonly occurredAt: Date
  readonly type: EventType
  readonly detail: EventDetail | null
  readonly recipientNo: number | null
}

interface Page {
  readonly first: number
  readonly count: number
}

/**
 * Returns the account's next events in the order of their sequence numbers. It reads one page of numbers per call, so it may return
 * fewer than `limit` events, or none but an advanced `next`. There are no more events if `next` does not advance.
 */
export async function readEvents(sql: AnySql, question: EventQuery): Promise<EventPage> {
  const { accountId, after, limit, types } = question
  const page = await pageAfter(sql, accountId, after)
  if (!page) return { events: [], next: after }
  const rows = await sql<Row[]>`
    with numbered as (
      select e.*, p.first_number - 1 + row_number() over (order by e.transaction, e.id) as number
        from event_pages p
        join events e on e.account_id = p.account_id and e.transaction > p.after_transaction
                     and e.transaction <= p.to_transaction
                     and e.occurred_at >= p.week and e.occurred_at < p.week + interval '7 days'
       where p.account_id = ${accountId} and p.first_number = ${page.first}
    ), wanted as (
      select * from numbered
       where number > ${after} and (${types === undefined} or type = any(${[...(types ?? [])]}::text[]))
       order by number limit ${limit}
    )
    select e.id, e.number::float8 as number, e.occurred_at as "occurredAt", e.type, e.detail, e.recipient_no as "recipientNo",
           replace(m.id::text, '-', '') as "messageId", (m.transaction_base + 4 * e.recipient_no)::text as "transactionNumber",
           coalesce(d.recipient, '') as recipient, coalesce(d.personal->'from'->>'email', m.from_address) as "from",
           coalesce(d.personal->>'subject', m.subject) as subject, m.tags, d.reference, m.size, m.accepted_at as "acceptedAt",
           (m.settings->>'group')::int as "group", m.settings->'template' as template, m.settings->>'pool' as pool,
           (select host(s.address) from sources s where s.name = e.detail->>'source' and s.address6 is null) as "sourceAddress",
           d.personal->'customArgs' as "customArgs",
           d.personal->>'messageId' as "ownMessageId",
           case when m.format = 'content' then coalesce((d.personal->>'envelope')::int, e.recipient_no) end as envelope,
           coalesce((d.personal->>'scheduledAt')::timestamptz, m.scheduled_at) as "scheduledAt"
      from wanted e
      left join messages m on m.id = e.message_id
      left join lateral (
        select f.recipient, f.reference, f.personal from finished_deliveries f
         where f.message_id = e.message_id and f.recipient_no = e.recipient_no
        union all
        select q.recipient, q.reference, q.personal from delivery_queue q
         where q.message_id = e.message_id and q.recipient_no = e.recipient_no
        limit 1) d on true
     order by e.number`
  const last = rows.at(-1)
  // The page may have grown since it was found.
  const end = Math.max(page.first + page.count - 1, last?.number ?? 0)
  const next = rows.length === limit && last ? last.number : end
  return { events: rows.map(asEvent), next: Math.max(next, after) }
}

/** Returns the first page with a number after this one. */
async function pageAfter(sql: AnySql, accountId: number, after: number): Promise<Page | undefined> {
  const [page] = await sql<Page[]>`
    select first_number::float8 as first, count from (
      (select first_number, count from event_pages
        where account_id = ${accountId} and first_number <= ${after + 1} order by first_number desc limit 1)
      union all
      (select first_number, count from event_pages
        where account_id = ${accountId} and first_number > ${after + 1} order by first_number limit 1)
    ) near
     where first_number + count - 1 > ${after} order by first_number limit 1`
  return page
}

function asEvent({ id, number, occurredAt, type, detail, recipientNo, ...delivery }: Row): Event {
  const known = recipientNo !== null && delivery.messageId !== null
  return { id, number, occurredAt, type, detail: detail ?? {}, delivery: known ? { ...delivery, recipientNo } : null }
}

/** Returns the sequence number of the account's latest event; 0 if there was none. */
export async function lastNumber(sql: AnySql, accountId: number): Promise<number> {
  const [page] = await sql<{ last: number }[]>`
    select (first_number + count - 1)::float8 as last from event_pages
     where account_id = ${accountId} order by first_number desc limit 1`
  return page?.last ?? 0
}
