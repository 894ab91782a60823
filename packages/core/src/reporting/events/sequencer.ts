import { onlyRow, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { isUsable } from '../../platform/database/replication/recovery-target.ts'

/** The notification channel for events that got their sequence numbers. */
export const EVENT_CHANNEL = 'postrider_events'

/** Approximate number of events in a batch, which always contains all events of a transaction. */
const BATCH = 5000
/** Number of events above which a page is no longer extended, because readers read a page from its beginning. */
const PAGE = 1000

/** The events of one batch: all with a transaction id in (after, to]. Both are an xid8 as decimal text. */
export interface Batch {
  readonly after: string
  readonly to: string
}

export interface Sequenced {
  /** Number of events that got sequence numbers. */
  readonly count: number
  /** Whether more events may be waiting. */
  readonly more: boolean
}

/**
 * Assigns sequence numbers to the next batch of events, in commit order, and calls `alongside` in the same transaction, so that its
 * writes are exact however often processes die here. Only one process at a time does this; the others return a count of 0.
 *
 * Considers only events of transactions that are older than the oldest transaction still writing to this database. No earlier event
 * can become visible later, so none is skipped. A long write transaction delays the numbers but loses no event. On a server that was restored to
 * an earlier moment, nothing is numbered before its epoch has begun.
 */
export async function sequenceEvents(
  sql: Sql,
  alongside: (sql: SqlTransaction, batch: Batch) => Promise<unknown>,
): Promise<Sequenced> {
  return sql.begin(async (transaction) => {
    const [cursor] = await transaction<{ after: string; offset: string }[]>`
      select transaction::text as after, transaction_offset as "offset" from event_cursors
       where name = 'numbers' and ${isUsable(transaction)} for update skip locked`
    if (!cursor) return { count: 0, more: false }
    const { after, offset } = cursor
    // A separate statement, so that all events below the horizon are visible to the following statements.
    const { horizon } = onlyRow(
      await transaction<{ horizon: string }[]>`select (event_horizon() + ${offset}::bigint)::text as horizon`,
    )
    const [found] = await transaction<{ to: string; count: number }[]>`
      with waiting as materialized (
        select transaction from events
         where transaction > ${after}::xid8 and transaction < ${horizon}::xid8
         order by transaction limit ${BATCH}
      )
      select transaction::text as "to", (select count(*)::int from waiting) as count
        from waiting order by transaction desc limit 1`
    if (!found) return { count: 0, more: false }
    const batch: Batch = { after, to: found.to }
    await number(transaction, batch)
    await alongside(transaction, batch)
    await transaction`select pg_notify(${EVENT_CHANNEL}, '')`
    return { count: found.count, more: found.count === BATCH }
  }) as Promise<Sequenced>
}

export interface TypeCount {
  readonly type: string
  readonly number: number
}

/** Counts the events of a batch by type. */
export async function countTypes(sql: SqlTransaction, { after, to }: Batch): Promise<TypeCount[]> {
  return sql<TypeCount[]>`
    select type, count(*)::int as number from events
     where transaction > ${after}::xid8 and transaction <= ${to}::xid8 group by 1`
}

async function number(sql: SqlTransaction, { after, to }: Batch): Promise<void> {
  await sql`
    with counted as materialized (
      select account_id, date_trunc('week', occurred_at, 'UTC') as week, count(*)::int as count,
             min(occurred_at) as earliest, max(occurred_at) as latest
        from events where transaction > ${after}::xid8 and transaction <= ${to}::xid8
       group by 1, 2
    ), numbered as materialized (
      select c.account_id, c.week, c.count, c.earliest, c.latest, l.first_number as last_first,
             coalesce(l.first_number + l.count, 1)
               + (sum(c.count) over weeks - c.count) as first_number,
             coalesce(l.week = c.week and l.count < ${PAGE} and row_number() over weeks = 1, false) as extends
        from counted c
        left join lateral (
          select p.first_number, p.count, p.week from event_pages p
           where p.account_id = c.account_id order by p.first_number desc limit 1) l on true
      window weeks as (partition by c.account_id order by c.week rows unbounded preceding)
    ), extended as (
      update event_pages p set count = p.count + n.count, to_transaction = ${to}::xid8, timed = p.timed + n.count,
                               earliest = least(p.earliest, n.earliest), latest = greatest(p.latest, n.latest)
        from numbered n where n.extends and p.account_id = n.account_id and p.first_number = n.last_first
    ), added as (
      insert into event_pages (account_id, first_number, count, week, after_transaction, to_transaction, earliest, latest, timed)
      select account_id, first_number, count, week, ${after}::xid8, ${to}::xid8, earliest, latest, count
        from numbered where not extends
    )
    update event_cursors set transaction = ${to}::xid8, moved_at = service_now() where name = 'numbers'`
}
