import { onlyRow, type Sql } from '../platform/database/database.ts'
import { selectPartitions } from './partitions.ts'

/** Numbers of rows in a copy of the database. */
export interface DataCounts {
  readonly accounts: number
  readonly messages: number
  /** Deliveries that are not finished. */
  readonly queued: number
  readonly finished: number
  readonly events: number
}

export interface VerifiedData {
  readonly counts: DataCounts
  /** Pages of all tables and indexes, which were read; their checksums agree. */
  readonly pages: number
  /** Faults that were found, as sentences. */
  readonly problems: readonly string[]
}

/**
 * Reads every page of a copy of the database, whose checksums the server compares, and checks the order of its indexes, the audit logs and the
 * event numbers. `sql` must have no statement timeout and the rights of a superuser: it creates the extensions pg_prewarm and amcheck.
 */
export async function verifyData(sql: Sql): Promise<VerifiedData> {
  const problems: string[] = []
  const pages = await readPages(sql).catch((error: Error) => {
    problems.push(`a page is damaged: ${error.message}`)
    return 0
  })
  await checkIndexes(sql).catch((error: Error) => problems.push(`an index is damaged: ${error.message}`))
  if (problems.length > 0) return { counts: NOTHING, pages, problems }
  const broken = await brokenLogs(sql)
  if (broken.length > 0)
    problems.push(`audit logs with altered or missing entries: those of the accounts ${broken.join(', ')}`)
  const gaps = await accountsWithGaps(sql)
  if (gaps.length > 0) problems.push(`event numbers with gaps: those of the accounts ${gaps.join(', ')}`)
  return { counts: await readCounts(sql), pages, problems }
}

const NOTHING: DataCounts = { accounts: 0, messages: 0, queued: 0, finished: 0, events: 0 }
const MAX_NAMED = 10

/** Throws the server's error if a checksum does not agree. */
async function readPages(sql: Sql): Promise<number> {
  await sql`create extension if not exists pg_prewarm`
  const { pages } = onlyRow(
    await sql<{ pages: number }[]>`
      select coalesce(sum(pg_prewarm(c.oid::regclass, 'buffer')), 0)::float8 as pages
        from pg_class c where c.relkind in ('r', 'i', 't', 'm', 'S') and c.relpersistence <> 't'`,
  )
  return pages
}

async function checkIndexes(sql: Sql): Promise<void> {
  await sql`create extension if not exists amcheck`
  await sql`
    select count(*) from (
      select bt_index_check(i.indexrelid::regclass) as checked
        from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
       where a.amname = 'btree' and c.relkind = 'i' and i.indisvalid and c.relpersistence <> 't' offset 0) all_indexes
     where checked is not null`
}

async function brokenLogs(sql: Sql): Promise<number[]> {
  const rows = await sql<{ accountId: number }[]>`
    select distinct account_id as "accountId"
      from (select account_id, audit_hash(l) = hash as whole,
                   previous_hash = lag(hash, 1, ''::bytea) over log as chained, number = row_number() over log as counted
              from audit_log l window log as (partition by account_id order by number)) checked
     where not (whole and chained and counted) order by 1 limit ${MAX_NAMED}`
  return rows.map(({ accountId }) => accountId)
}

/**
 * Pages of weeks may alternate, so when the older week expires, the younger one is left with a gap; and the last page of an account that was idle is
 * kept for ever. So a gap counts only between pages before which a whole week is still kept.
 */
async function accountsWithGaps(sql: Sql): Promise<number[]> {
  const kept = (await selectPartitions(sql)).filter(({ parent, state }) => parent === 'events' && state === 'kept')
  const oldest = new Date(Math.min(...kept.map(({ week }) => week.getTime()), Date.now()))
  const rows = await sql<{ accountId: number }[]>`
    select distinct account_id as "accountId"
      from (select account_id, first_number, lag(first_number + count) over own as expected, least(week, lag(week) over own) as earlier
              from event_pages window own as (partition by account_id order by first_number)) pages
      join accounts a on a.id = account_id
     where expected <> first_number
       and earlier - interval '7 days' >= ${oldest}::timestamptz
       and (a.event_days is null or earlier - interval '7 days' > service_now() - make_interval(days => 7 + a.event_days))
     order by 1 limit ${MAX_NAMED}`
  return rows.map(({ accountId }) => accountId)
}

async function readCounts(sql: Sql): Promise<DataCounts> {
  return onlyRow(
    await sql<DataCounts[]>`
      select (select count(*)::float8 from accounts) as accounts, (select count(*)::float8 from messages) as messages,
             (select count(*)::float8 from delivery_queue) as queued, (select count(*)::float8 from finished_deliveries) as finished,
             (select count(*)::float8 from events) as events`,
  )
}
