import { lockBodies } from '../../delivery/queue/deletion-locks.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import { deleteBodies } from '../delete-bodies.ts'
import type { Part, Position } from './remove-rows.ts'

/** Messages removed at a time, with all that is stored of them. */
const MESSAGES = 200
/** Events removed at a time, those of the last transaction complete. */
const EVENTS = 1000
/** Rows that are looked at where no index finds those of an account. */
const SCANNED = 5000

interface Given {
  readonly accountId: number
  readonly position: Position
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Removes some messages with their bodies, deliveries, attempts and opens, in the order of their ids. */
export async function removeMessages(sql: SqlTransaction, { accountId, position }: Given): Promise<Part> {
  await lockBodies(sql, accountId)
  const after = position?.[0] ?? FIRST_ID
  // By the column: "id" alone would be the text, in the order of which no index is, and each part would read all messages.
  const rows = await sql<{ id: string }[]>`
    select m.id::text from messages m where m.account_id = ${accountId} and m.id > ${after}::uuid order by m.id limit ${MESSAGES}`
  const ids = rows.map(({ id }) => id)
  const last = ids.at(-1)
  if (last === undefined) return { removed: 0 }
  await deleteBodies(sql, accountId, ids, { evenQueued: true })
  await sql`delete from delivery_queue where message_id = any(${ids}::uuid[]) and worker_id is null`
  for (const table of ['engagements', 'attempts', 'finished_deliveries', 'hits'])
    await sql`delete from ${sql(table)} where message_id = any(${ids}::uuid[])`
  // A letter is mail to the operator, who keeps it without the message that it mentions.
  await sql`
    update returns set message_id = null, recipient_no = null, account_id = null
     where message_id = any(${ids}::uuid[]) and kind = 'letter'`
  await sql`delete from returns where message_id = any(${ids}::uuid[])`
  await sql`delete from messages where id = any(${ids}::uuid[])`
  return { removed: ids.length, next: [last] }
}

/** Removes some blocks of the words of messages, in the order of their ids. */
export async function removeBlocks(sql: SqlTransaction, { accountId, position }: Given): Promise<Part> {
  const after = position?.[0] ?? FIRST_ID
  // Whole messages: the blocks of one have the same id.
  const rows = await sql<{ id: string }[]>`
    with own as (
      select b.first_id from search_blocks b where b.account_id = ${accountId} and b.first_id >= ${after}::uuid order by b.first_id limit ${MESSAGES}
    ), removed as (
      delete from search_blocks b using (select distinct first_id from own) o where b.account_id = ${accountId} and b.first_id = o.first_id
    )
    select first_id::text as id from own order by own.first_id`
  const last = rows.at(-1)
  return last ? { removed: rows.length, next: [last.id] } : { removed: 0 }
}

/** Removes a page of events with its sequence numbers, the oldest first. */
export async function removeEventPage(sql: SqlTransaction, { accountId }: Given): Promise<Part> {
  const [page] = await sql<{ first: number; count: number }[]>`
    select first_number::float8 as first, count from event_pages
     where account_id = ${accountId} order by first_number limit 1 for update`
  if (!page) return { removed: 0 }
  await sql`
    delete from events e using event_pages p
     where p.account_id = ${accountId} and p.first_number = ${page.first} and e.account_id = p.account_id
       and e.transaction > p.after_transaction and e.transaction <= p.to_transaction
       and e.occurred_at >= p.week and e.occurred_at < p.week + interval '7 days'`
  await sql`delete from event_pages where account_id = ${accountId} and first_number = ${page.first}`
  return { removed: page.count, next: [String(page.first)] }
}

/** Removes some events without a number, in the order of their transactions. */
export async function removeOtherEvents(sql: SqlTransaction, { accountId, position }: Given): Promise<Part> {
  const after = position?.[0] ?? '0'
  const [last] = await sql<{ transaction: string }[]>`
    select max(e.transaction)::text as transaction from (
      select transaction from events where account_id = ${accountId} and transaction > ${after}::text::xid8
       order by transaction limit ${EVENTS}) e`
  if (!last?.transaction) return { removed: 0 }
  const { count } = await sql`
    delete from events
     where account_id = ${accountId} and transaction > ${after}::text::xid8 and transaction <= ${last.transaction}::text::xid8`
  return { removed: count, next: [last.transaction] }
}

/**
 * Removes the returns of messages that are no longer stored: no index finds them, so all returns are walked through. Once for an account with all of its
 * subaccounts, whose removal comes before: for each of a thousand it would be a thousand times.
 */
export async function removeOtherReturns(sql: SqlTransaction, { accountId, position }: Given): Promise<Part> {
  const [subaccount] = await sql`select from accounts where id = ${accountId} and parent_id is not null`
  if (subaccount) return { removed: 0 }
  const after = position?.[0] ?? FIRST_ID
  const rows = await sql<{ id: string; own: boolean }[]>`
    select r.id::text, exists (select from accounts a where a.id = r.account_id and ${accountId}::int in (a.id, a.parent_id)) as own
      from returns r
     where r.id > ${after}::uuid order by r.id limit ${SCANNED}`
  const last = rows.at(-1)
  if (!last) return { removed: 0 }
  const own = rows.filter((row) => row.own).map(({ id }) => id)
  if (own.length > 0) {
    await sql`
      update returns set message_id = null, recipient_no = null, account_id = null
       where id = any(${own}::uuid[]) and kind = 'letter'`
    await sql`delete from returns where id = any(${own}::uuid[]) and account_id is not null`
  }
  return { removed: own.length, next: [last.id] }
}
