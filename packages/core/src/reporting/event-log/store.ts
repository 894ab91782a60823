import { waitingFor } from '../../delivery/queue/waiting.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { timeOfId } from '../../submission/message-id.ts'
import type { Place } from './cursor.ts'
import { deliveriesWith, type FirstOf, isWanted, notable } from './notable.ts'
import type { Filter } from './query.ts'

type Fragment = ReturnType<AnySql>

/** The ids of a date range: from `from`, inclusive, to `to`, exclusive. */
export interface Span {
  readonly from: string
  readonly to: string
}

export interface Search {
  readonly accountId: number
  readonly span: Span
  readonly filter: Filter
  /** Whether the recipient has too many deliveries for them to be sorted: the account's messages are gone through instead. */
  readonly isFrequent?: boolean
}

export type Sort = 'asc' | 'desc'

export interface PageOf extends Search {
  readonly sort: Sort
  /** Undefined for the first page. */
  readonly after: Place | undefined
  readonly offset: number
  readonly limit: number
}

/** Returns the ids of a date range in the account's time zone. */
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
  if (!span) throw new Error('the account no longer exists')
  return span
}

/** Returns the account's last message in the date range; undefined if there is none. */
export async function selectLast(sql: AnySql, accountId: number, { from, to }: Span): Promise<string | undefined> {
  const [last] = await sql<{ text: string }[]>`
    select id::text as text from messages
     where account_id = ${accountId} and id >= ${from}::uuid and id < ${to}::uuid order by id desc limit 1`
  return last?.text
}

/** Cost of a search: entries of its index, at most one more than the limit, and their deliveries. */
export interface Scanned {
  readonly entries: number
  readonly deliveries: number
}

/** Returns how much a search has to scan. Stops counting after `limit` entries, which limits the time. */
export async function countScanned(sql: AnySql, search: Search, limit: number): Promise<Scanned> {
  const [row] = await sql<Scanned[]>`
    select count(*)::float8 as entries, coalesce(sum(count), 0)::float8 as deliveries
      from (${scannedBy(sql, search)} limit ${limit + 1}) counted`
  return row ?? { entries: 0, deliveries: 0 }
}

/** Returns the message at which a search in this order has scanned more than `limit` deliveries; undefined if it ends before. */
export async function selectEnd(sql: AnySql, search: Search, sort: Sort, limit: number): Promise<string | undefined> {
  const { accountId, span } = search
  const order = (column: Fragment) => (sort === 'asc' ? sql`order by ${column}` : sql`order by ${column} desc`)
  const entry = (from: Fragment) =>
    sql`select message_id::text as id from (${from}) scanned ${order(sql`message_id`)} offset ${limit} limit 1`
  const [end] = await sql<{ id: string }[]>`
    ${{
      walk: () => sql`
          select id::text as id from (
            select id, sum(recipients) over (${order(sql`id`)}) as deliveries from messages
             where account_id = ${accountId} and id >= ${span.from}::uuid and id < ${span.to}::uuid) scanned
           where deliveries > ${limit} ${order(sql`scanned.id`)} limit 1`,
      recipient: () => entry(sql`${finishedOf(sql, search)} union all ${waitingOf(sql, search)}`),
      notable: () => entry(notableOf(sql, search, { sort, rows: limit + 1, isAfter: sql`` })),
    }[driverOf(search)]()}`
  return end?.id
}

function scannedBy(sql: AnySql, search: Search) {
  const { accountId, span } = search
  return {
    walk: () =>
      sql`select recipients as count from messages
           where account_id = ${accountId} and id >= ${span.from}::uuid and id < ${span.to}::uuid`,
    recipient: () => sql`select 1 as count from (${finishedOf(sql, search)} union all ${waitingOf(sql, search)}) d`,
    notable: () => sql`select 1 as count from (${notableOf(sql, search)}) n`,
  }[driverOf(search)]()
}

/** Returns the number of all matches. */
export async function countMatches(sql: AnySql, search: Search): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::float8 as total from (${matches(sql, search)}) matching`
  return row?.total ?? 0
}

/** Returns the positions of the rows of a page. */
export async function selectPlaces(sql: AnySql, page: PageOf): Promise<Place[]> {
  const { sort, offset, limit } = page
  const order = sort === 'asc' ? sql`order by 1, 2` : sql`order by 1 desc, 2 desc`
  return sql<Place[]>`
    select message_id::text as "messageId", recipient_no as "recipientNo" from (
      ${matches(sql, page, page)} ${order} limit ${limit} offset ${offset}) page`
}

/** Returns how rows are found: by the account's messages, a recipient's deliveries or notable events. */
export function driverOf({
  filter: { recipientKey, events },
  isFrequent = false,
}: Pick<Search, 'filter' | 'isFrequent'>): 'walk' | 'recipient' | 'notable' {
  if (recipientKey !== undefined) return isFrequent ? 'walk' : 'recipient'
  return events && !events.sent ? 'notable' : 'walk'
}

type IsAfter = (id: Fragment, no: Fragment) => Fragment

function isAfterOf(sql: AnySql, page: PageOf | undefined): IsAfter {
  const after = page?.after
  if (after === undefined) return () => sql``
  const { messageId, recipientNo } = after
  return page?.sort === 'desc'
    ? (id, no) => sql`and ${id} <= ${messageId}::uuid and (${id} < ${messageId}::uuid or ${no} < ${recipientNo}::int)`
    : (id, no) => sql`and ${id} >= ${messageId}::uuid and (${id} > ${messageId}::uuid or ${no} > ${recipientNo}::int)`
}

/** Selects message id and recipient number of all matches in index order; for a page, not more than it needs. */
function matches(sql: AnySql, search: Search, page?: PageOf) {
  const { accountId, filter, span } = search
  const { from, subject, reference, messageId, events, recipientKey } = filter
  const driver = driverOf(search)
  const isAfter = isAfterOf(sql, page)
  const simple = [from, subject, reference, messageId].every((text) => text === undefined)
  if (driver === 'notable' && simple) {
    const rows = page && {
      sort: page.sort,
      rows: page.limit + page.offset,
      isAfter: isAfter(sql`e.message_id`, sql`e.recipient_no`),
    }
    return sql`select * from (${notableOf(sql, search, rows)}) n`
  }
  if (driver === 'recipient' && simple && events === undefined) {
    return sql`
      select message_id, recipient_no from (${finishedOf(sql, search)} union all ${waitingOf(sql, search)}) d
       where true ${isAfter(sql`d.message_id`, sql`d.recipient_no`)}`
  }
  // Sent deliveries are never queued.
  const sentOnly = events?.sent === true && events.types.length === 0 && events.bounces === undefined
  // `offset 0` keeps the planner from changing the join order.
  const messageOf = (id: Fragment) => sql`lateral (select * from messages m where m.id = ${id} offset 0) m`
  const source = {
    walk: () =>
      sql`messages m cross join lateral (${sentOnly ? finishedWith(sql, sql`m.id`) : deliveriesOf(sql, sql`m.id`)} offset 0) d`,
    recipient: () => sql`
      (${finishedOf(sql, search)} union all ${waitingOf(sql, search)} offset 0) d cross join ${messageOf(sql`d.message_id`)}`,
    notable: () => sql`
      (${notableOf(sql, search)}) n cross join ${messageOf(sql`n.message_id`)} cross join lateral (
        select * from (${deliveriesOf(sql, sql`n.message_id`)}) d where d.recipient_no = n.recipient_no offset 0) d`,
  }[driver]()
  const eventCondition =
    events === undefined || driver === 'notable'
      ? sql``
      : sentOnly
        ? sql`and d.state = 'delivered'`
        : sql`and (${events.sent ? sql`d.state = 'delivered' or` : sql``} exists (
              select from events e where e.account_id = ${accountId} and e.message_id = m.id and e.recipient_no = d.recipient_no
                 and e.occurred_at >= m.accepted_at - interval '1 day' and ${notable(sql)} and ${isWanted(sql, events)}
               -- Evaluated for each delivery: a join would read all events of the account.
               offset 0))`
  return sql`
    select m.id as message_id, d.recipient_no from ${source}
     where m.account_id = ${accountId} and m.id >= ${span.from}::uuid and m.id < ${span.to}::uuid
       ${from === undefined ? sql`` : sql`and lower(m.from_address) = ${from}::text`}
       ${subject === undefined ? sql`` : sql`and m.subject = ${subject}::text`}
       ${messageId === undefined ? sql`` : sql`and m.id = ${messageId}::uuid`}
       ${reference === undefined ? sql`` : sql`and d.reference = ${reference}::text`}
       ${driver === 'walk' && recipientKey !== undefined ? sql`and d.recipient_key = ${recipientKey}::text` : sql``}
       ${eventCondition} ${isAfter(sql`m.id`, sql`d.recipient_no`)}`
}

function finishedWith(sql: AnySql, id: Fragment) {
  return sql`
    select f.message_id, f.recipient_no, f.state, f.reference, f.recipient_key from finished_deliveries f
     where f.message_id = ${id}`
}

function deliveriesOf(sql: AnySql, id: Fragment) {
  return sql`
    ${finishedWith(sql, id)}
    union all
    select q.message_id, q.recipient_no, q.state, q.reference, q.recipient_key from delivery_queue q
     where q.message_id = ${id}`
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

function notableOf(sql: AnySql, { accountId, span, filter: { events } }: Search, first?: FirstOf) {
  const question = { accountId, ...span, since: timeOfId(span.from) }
  return deliveriesWith(sql, events ?? { sent: false, types: [] }, question, first)
}
