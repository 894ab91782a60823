import type { AnySql } from '../database.ts'
import { waitingFor } from '../delivery/waiting.ts'
import { HARD_BOUNCES } from '../events/words.ts'
import type { Place } from './cursor.ts'
import type { Filter, WantedEvents } from './question.ts'
import { MOST_HITS, type StoredRow } from './row.ts'

type Fragment = ReturnType<AnySql>

/** The account's ids of a span of days: from the first, before the last. */
export interface Span {
  readonly from: string
  readonly to: string
}

export interface Search {
  readonly accountId: number
  readonly span: Span
  readonly filter: Filter
}

export interface PageOf extends Search {
  readonly sort: 'asc' | 'desc'
  /** Undefined: from the beginning. */
  readonly after: Place | undefined
  readonly offset: number
  readonly limit: number
}

/**
 * Rows are read in the order of the indexes, one by one, until the page is full. The planner, which plans for any account and any
 * page, would read and sort a large account's whole span for a page of ten. `false`: as the planner likes it.
 */
export async function readInOrder(sql: AnySql, inOrder: boolean): Promise<void> {
  await sql`
    select set_config(name, ${inOrder ? 'off' : 'on'}, true)
      from unnest(array['enable_sort', 'enable_hashagg', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan',
                        'enable_seqscan', 'enable_material']) name`
}

/** The ids of the days from the first to the last one, in the account's time zone. */
export async function selectSpan(
  sql: AnySql,
  accountId: number,
  { first, last }: { first: string; last: string | undefined },
): Promise<Span> {
  const [span] = await sql<Span[]>`
    select uuidv7_floor(${first}::text::date::timestamp at time zone time_zone)::text as "from",
           uuidv7_floor(coalesce((${last ?? null}::text::date + 1)::timestamp at time zone time_zone,
                                 service_now() + interval '1 day'))::text as "to"
      from accounts where id = ${accountId}`
  if (!span) throw new Error('the account is gone')
  return span
}

/** The last of the account's messages in the span. */
export async function selectLast(sql: AnySql, accountId: number, { from, to }: Span): Promise<string | undefined> {
  const [last] = await sql<{ text: string }[]>`
    select id::text as text from messages
     where account_id = ${accountId} and id >= ${from}::uuid and id < ${to}::uuid order by id desc limit 1`
  return last?.text
}

/** How many deliveries a search has to look at; counts no further than `most` messages, so that it takes no longer than that. */
export async function countLookedAt(sql: AnySql, search: Search, most: number): Promise<number> {
  const { accountId, span, filter } = search
  const counted =
    driverOf(filter) === 'walk'
      ? sql`select recipients as count from messages
             where account_id = ${accountId} and id >= ${span.from}::uuid and id < ${span.to}::uuid`
      : driverOf(filter) === 'recipient'
        ? sql`select 1 as count from (${finishedOf(sql, search)} union all ${waitingOf(sql, search)}) d`
        : sql`select 1 as count from (${notableOf(sql, search)}) n`
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum(count), 0)::float8 as count from (${counted} limit ${most + 1}) counted`
  return row?.count ?? 0
}

/** All matches. */
export async function countMatches(sql: AnySql, search: Search): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::float8 as total from (${matches(sql, search)}) matching`
  return row?.total ?? 0
}

export async function selectPlaces(sql: AnySql, page: PageOf): Promise<Place[]> {
  const { sort, after, offset, limit } = page
  const order = sort === 'asc' ? sql`order by 1, 2` : sql`order by 1 desc, 2 desc`
  return sql<Place[]>`
    select message_id::text as "messageId", recipient_no as "recipientNo" from (
      ${matches(sql, page, after && { place: after, sort })} ${order} limit ${limit} offset ${offset}) page`
}

/** What finds the rows: the account's messages one by one, a recipient's deliveries, or notable events. */
export function driverOf({ recipientKey, events }: Filter): 'walk' | 'recipient' | 'notable' {
  if (recipientKey !== undefined) return 'recipient'
  return events && !events.sent ? 'notable' : 'walk'
}

/** Must be said as the index says it. */
const notable = (sql: AnySql) => sql`
  e.type in ('bounced', 'expired', 'dropped', 'invalid', 'opened', 'clicked', 'unsubscribed', 'complained')
  and not coalesce(e.detail ? 'machine', false)`

function isWanted(sql: AnySql, { types, bounces }: WantedEvents) {
  const named = sql`e.type = any(${[...types]}::text[])`
  if (bounces === 'hard') {
    return sql`(${named} or (e.type = 'bounced' and e.detail->>'class' = any(${[...HARD_BOUNCES]}::text[])))`
  }
  if (bounces === 'soft') {
    return sql`(${named} or e.type = 'expired'
                or (e.type = 'bounced' and coalesce(e.detail->>'class', '') <> all(${[...HARD_BOUNCES]}::text[])))`
  }
  return named
}

/** Message id and recipient number of what matches, in the order of the index that finds them. */
function matches(
  sql: AnySql,
  search: Search,
  after?: { readonly place: Place; readonly sort: 'asc' | 'desc' } | undefined,
) {
  const { accountId, filter, span } = search
  const { from, subject, reference, messageId, events } = filter
  const driver = driverOf(filter)
  const behind = (id: Fragment, no: Fragment) =>
    after === undefined
      ? sql``
      : after.sort === 'asc'
        ? sql`and ${id} >= ${after.place.messageId}::uuid
              and (${id} > ${after.place.messageId}::uuid or ${no} > ${after.place.recipientNo}::int)`
        : sql`and ${id} <= ${after.place.messageId}::uuid
              and (${id} < ${after.place.messageId}::uuid or ${no} < ${after.place.recipientNo}::int)`
  const simple = [from, subject, reference, messageId].every((text) => text === undefined)
  if (driver === 'notable' && simple) {
    return sql`select * from (${notableOf(sql, search)}) n where true ${behind(sql`n.message_id`, sql`n.recipient_no`)}`
  }
  if (driver === 'recipient' && simple && events === undefined) {
    return sql`
      select message_id, recipient_no from (${finishedOf(sql, search)} union all ${waitingOf(sql, search)}) d
       where true ${behind(sql`d.message_id`, sql`d.recipient_no`)}`
  }
  // From the inside out: `offset 0` keeps the planner from turning a join round.
  const messageOf = (id: Fragment) => sql`lateral (select * from messages m where m.id = ${id} offset 0) m`
  const source = {
    walk: () => sql`messages m cross join lateral (${deliveriesOf(sql, sql`m.id`)} offset 0) d`,
    recipient: () => sql`
      (${finishedOf(sql, search)} union all ${waitingOf(sql, search)} offset 0) d cross join ${messageOf(sql`d.message_id`)}`,
    notable: () => sql`
      (${notableOf(sql, search)}) n cross join ${messageOf(sql`n.message_id`)} cross join lateral (
        select * from (${deliveriesOf(sql, sql`n.message_id`)}) d where d.recipient_no = n.recipient_no offset 0) d`,
  }[driver]()
  const happened =
    events === undefined || driver === 'notable'
      ? sql``
      : sql`and (${events.sent ? sql`d.state = 'delivered' or` : sql``} exists (
              select from events e where e.account_id = ${accountId} and e.message_id = m.id and e.recipient_no = d.recipient_no
                 and e.occurred_at >= m.accepted_at - interval '1 day' and ${notable(sql)} and ${isWanted(sql, events)}))`
  return sql`
    select m.id as message_id, d.recipient_no from ${source}
     where m.account_id = ${accountId} and m.id >= ${span.from}::uuid and m.id < ${span.to}::uuid
       ${from === undefined ? sql`` : sql`and lower(m.from_address) = ${from}::text`}
       ${subject === undefined ? sql`` : sql`and m.subject = ${subject}::text`}
       ${messageId === undefined ? sql`` : sql`and m.id = ${messageId}::uuid`}
       ${reference === undefined ? sql`` : sql`and d.reference = ${reference}::text`}
       ${happened} ${behind(sql`m.id`, sql`d.recipient_no`)}`
}

function deliveriesOf(sql: AnySql, id: Fragment) {
  return sql`
    select f.message_id, f.recipient_no, f.state, f.reference from finished_deliveries f where f.message_id = ${id}
    union all
    select q.message_id, q.recipient_no, q.state, q.reference from delivery_queue q where q.message_id = ${id}`
}

function finishedOf(sql: AnySql, { accountId, span, filter: { recipientKey = '' } }: Search) {
  return sql`
    select f.message_id, f.recipient_no, f.state, f.reference from finished_deliveries f
     where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(${recipientKey}::text, ${accountId}::int)
       and f.recipient_key = ${recipientKey}::text and f.account_id = ${accountId}::int
       and f.message_id >= ${span.from}::uuid and f.message_id < ${span.to}::uuid`
}

function waitingOf(sql: AnySql, { accountId, span, filter: { recipientKey = '' } }: Search) {
  return sql`
    select q.message_id, q.recipient_no, q.state, q.reference from (${waitingFor(sql, accountId, [recipientKey])}) q
     where q.message_id >= ${span.from}::uuid and q.message_id < ${span.to}::uuid`
}

function notableOf(sql: AnySql, { accountId, span, filter: { events } }: Search) {
  return sql`
    select e.message_id, e.recipient_no from events e
     where e.account_id = ${accountId} and e.message_id >= ${span.from}::uuid and e.message_id < ${span.to}::uuid
       and e.occurred_at >= ${timeOf(span.from)}::timestamptz - interval '1 day'
       and ${notable(sql)} and ${isWanted(sql, events ?? { sent: false, types: [] })}
     group by 1, 2`
}

/** A UUIDv7's time (RFC 9562 5.7). */
function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
}

/** All that is shown of these rows, in their order. */
export async function selectRows(sql: AnySql, accountId: number, places: readonly Place[]): Promise<StoredRow[]> {
  const local = (time: Fragment) => sql`to_char(${time} at time zone z.time_zone, 'YYYY-MM-DD HH24:MI:SS')`
  return sql<StoredRow[]>`
    select replace(m.id::text, '-', '') as "messageId", w.no as "recipientNo",
           (m.transaction_base + 4 * w.no)::text as "transactionNumber", d.recipient,
           coalesce(d.personal->'from'->>'email', m.from_address) as "from",
           ${local(sql`m.accepted_at`)} as "acceptedAt",
           coalesce(case when d.state = 'delivered' then ${local(sql`d.finished_at`)} end, '') as "deliveredAt",
           ${local(sql`greatest(m.accepted_at, d.finished_at, a.started_at, n.last)`)} as "changedAt",
           m.size, coalesce(d.personal->>'subject', m.subject) as subject, d.reference, m.tags, d.state, d.reason, m.format = 'content' as merged,
           d.personal->'attributes' as attributes, a.code, a.enhanced, a.reply, n.notable
      from unnest(${places.map(({ messageId }) => messageId)}::uuid[], ${places.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
     cross join lateral (select * from messages m where m.id = w.id and m.account_id = ${accountId} offset 0) m
     cross join (select time_zone from accounts where id = ${accountId}) z
     cross join lateral (
       select f.recipient, f.reference, f.personal, f.state, f.reason, f.finished_at from finished_deliveries f
        where f.message_id = w.id and f.recipient_no = w.no
       union all
       select q.recipient, q.reference, q.personal, q.state, null, null from delivery_queue q
        where q.message_id = w.id and q.recipient_no = w.no
       limit 1) d
      left join lateral (
       select t.code, t.enhanced, t.reply, t.started_at from attempts t
        where t.message_id = w.id and t.recipient_no = w.no order by t.attempt desc limit 1) a on true
      left join lateral (
       select max(e.occurred_at) as last,
              json_agg(json_build_object('type', e.type, 'time', ${local(sql`e.occurred_at`)}, 'ip', e.detail->>'ip',
                         'url', e.detail->>'url', 'class', e.detail->>'class', 'said', coalesce(e.detail, '{}'))
                       order by e.occurred_at, e.id) as notable
         from unnest(array['opened', 'clicked', 'bounced', 'unsubscribed', 'complained']) as kind
        cross join lateral (
          select e.id, e.type, e.occurred_at, e.detail from events e
           where e.account_id = ${accountId} and e.message_id = w.id and e.recipient_no = w.no and e.type = kind
             and e.occurred_at >= m.accepted_at - interval '1 day' and ${notable(sql)}
           order by e.occurred_at desc limit ${MOST_HITS}) e) n on true
     order by w.at`
}
