import type { AnySql, Sql } from '../platform/database/database.ts'
import type { Role } from './return-address.ts'
import type { Forward } from './return-result.ts'
import { unpacked } from './store.ts'

/** A letter that this process may pass on now. */
export interface ClaimedLetter {
  readonly id: string
  readonly role: Role
  readonly receivedAt: Date
  readonly mailFrom: string | null
  readonly size: number
  readonly content: Buffer
  /** It is beyond the hourly limit, and needs nothing further. */
  readonly isExcess: boolean
  /** Hours since it was first tried. */
  readonly hours: number
}

/** Advisory lock, which one process at a time has while it claims. */
const CLAIM_LOCK = 7761
/** Minutes until the next try, doubled with each. A process that has not finished by then is presumed dead. */
const [RETRY_MINUTES, MAX_RETRY_MINUTES] = [1, 60]

/**
 * Claims the letter that has waited longest, or counts it as excess if `limit` were first tried in this hour. Returns undefined if none is due,
 * or while another process claims one.
 */
export async function claimLetter(sql: Sql, limit: number): Promise<ClaimedLetter | undefined> {
  const [row] = await sql<(Omit<ClaimedLetter, 'content'> & { content: Uint8Array })[]>`
    with mutex as materialized (
      select pg_try_advisory_xact_lock(${CLAIM_LOCK}) as taken
    ), due as materialized (
      select id from returns, mutex
       where mutex.taken and forward = 'waiting' and forward_at <= service_now()
       order by forward_at limit 1 for update of returns skip locked
    ), used as (
      select count(*) as letters from (
        select from returns where forward_hour = date_trunc('hour', service_now(), 'UTC') and forward <> 'excess' limit ${limit}::int) u
    )
    update returns r
       set forward = case when forward_hour is null and letters >= ${limit}::int then 'excess' else 'waiting' end,
           forward_hour = coalesce(forward_hour, date_trunc('hour', service_now(), 'UTC')),
           forward_tries = coalesce(forward_tries, 0) + 1,
           forward_at = service_now() + make_interval(mins =>
             least(${RETRY_MINUTES}::int * power(2, least(coalesce(forward_tries, 0), 10))::int, ${MAX_RETRY_MINUTES}::int))
      from due, used
     where r.id = due.id
    returning r.id::text as id, role, received_at as "receivedAt", mail_from as "mailFrom", size, content, forward = 'excess' as "isExcess",
              (extract(epoch from service_now() - forward_hour) / 3600)::float8 as hours`
  return row && { ...row, content: unpacked(row.content) }
}

/** Stores what became of a letter. */
export async function saveForward(
  sql: AnySql,
  id: string,
  forward: Exclude<Forward, 'waiting' | 'excess'>,
  messageId: string | null,
): Promise<void> {
  await sql`
    update returns set forward = ${forward}, forward_at = service_now(), forward_message_id = ${messageId}::uuid
     where id = ${id}::uuid and forward = 'waiting'`
}

/** Letters of one past hour that were not passed on because they were too many. */
export interface ExcessLetters {
  readonly hour: Date
  readonly letters: number
}

/** Returns those of the first such hour; undefined if there are none. */
export async function selectExcess(sql: AnySql): Promise<ExcessLetters | undefined> {
  const [row] = await sql<ExcessLetters[]>`
    select forward_hour as hour, count(*)::int as letters from returns
     where forward = 'excess' and forward_hour < date_trunc('hour', service_now(), 'UTC')
     group by forward_hour order by forward_hour limit 1`
  return row
}

/** Notes that a summary has counted the letters of an hour. */
export async function saveSummary(sql: AnySql, hour: Date, messageId: string | null): Promise<void> {
  await sql`
    update returns set forward = 'summarised', forward_at = service_now(), forward_message_id = ${messageId}::uuid
     where forward = 'excess' and forward_hour = ${hour}`
}
