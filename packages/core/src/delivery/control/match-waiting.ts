import type { AnySql } from '../../platform/database/database.ts'
import { filterOf, type JobFilter, type WaitingAction } from './job-filter.ts'
import { MAX_SHOWN, type Matches, SAMPLE } from './matches.ts'

/** Rows of the queue that are read to count; a second or two. */
const MAX_READ = 1_000_000

/** Returns what a job would do to deliveries in the queue. */
export async function matchWaiting(sql: AnySql, action: WaitingAction, filter: JobFilter): Promise<Matches> {
  const counts = await countMatches(sql, action, filter)
  const sample = await sql<Matches['sample'][number][]>`
    select replace(q.message_id::text, '-', '') as "messageId", q.recipient_no as "recipientNo", q.account_id as "accountId",
           q.recipient, q.state
      from ${rowsOf(sql, filter)} q where ${filterOf(sql, action, filter)} limit ${SAMPLE}`
  return { ...counts, sample }
}

/** The rows among which the matches are, by the index of the destination or the account if there is one. */
function rowsOf(sql: AnySql, { place, accountId }: JobFilter): ReturnType<AnySql> {
  const where =
    place !== undefined
      ? sql`worker_id is null and place is not null
            and place in (select ${place}::text union all select ${place}::text || '@' || name from sources)`
      : accountId !== undefined
        ? sql`worker_id is null and account_id = ${accountId}::int`
        : sql`true`
  return sql`(select * from delivery_queue where ${where} limit ${MAX_READ})`
}

async function countMatches(sql: AnySql, action: WaitingAction, filter: JobFilter): Promise<Omit<Matches, 'sample'>> {
  const rows = await sql<{ all: number; place: string | null; accountId: number; count: number; read: number }[]>`
    select grouping(place, account_id) as all, place, account_id as "accountId", count(*) filter (where wanted)::int as count,
           count(*)::int as read
      from (select q.place, q.account_id, (${filterOf(sql, action, filter)}) as wanted from ${rowsOf(sql, filter)} q) counted
     group by grouping sets ((place), (account_id), ()) order by 4 desc`
  const [PLACE, ACCOUNT, TOTAL] = [1, 2, 3]
  const largest = (set: number) => rows.filter(({ all, count }) => all === set && count > 0).slice(0, MAX_SHOWN)
  const total = rows.find(({ all }) => all === TOTAL)
  return {
    count: total?.count ?? 0,
    partial: (total?.read ?? 0) >= MAX_READ,
    byPlace: largest(PLACE as number).map(({ place, count }) => ({ place, count })),
    byAccount: largest(ACCOUNT as number).map(({ accountId, count }) => ({ accountId, count })),
  }
}
