import { type AnySql, onlyRow, type Sql } from '../../../platform/database/database.ts'
import { storableJson } from '../../../platform/database/storable.ts'
import type { Verdict } from './block-lists.ts'
import type { RecordCheck } from './record-check.ts'

/** Time a worker has to check a source, before another worker may. */
const LEASE = '10 minutes'

/** Subjects of checks: DNS records, hourly, and block lists, every 30 minutes. */
export type Subject = 'records' | 'listings'

const SCHEDULE = {
  records: { column: 'check_at', every: '1 hour' },
  listings: { column: 'listings_at', every: '30 minutes' },
} as const

/** A source, as far as checks depend on it. */
export interface CheckedSource {
  readonly id: number
  readonly name: string
  readonly address: string
  readonly address6: string | null
  readonly helo: string
}

/** A source's entry in a block list, or that it has none. */
export interface Listing extends Verdict {
  readonly address: string
  /** The public name of the list. */
  readonly list: string
  /** Since when it is in this state. */
  readonly since: Date
  readonly checkedAt: Date
}

export interface StoredChecks {
  readonly sourceId: number
  readonly records: readonly RecordCheck[]
  readonly checkedAt: Date | null
}

/** Claims sources that are due, the most overdue first, so that no other worker checks them. Sources without a row are due. */
export async function claimDueSources(
  sql: Sql,
  subject: Subject,
  limit: number,
): Promise<{ sources: CheckedSource[]; now: Date }> {
  const due = sql(SCHEDULE[subject].column)
  await sql`
    insert into source_checks (source_id)
    select id from sources s where not exists (select 1 from source_checks c where c.source_id = s.id) for key share
    on conflict do nothing`
  return onlyRow(
    await sql<{ sources: CheckedSource[]; now: Date }[]>`
      with claimed as (
        update source_checks set ${due} = service_now() + ${LEASE}::text::interval
         where source_id in (select source_id from source_checks where ${due} <= service_now()
                              order by ${due} limit ${limit} for update skip locked)
        returning source_id
      )
      select service_now() as now,
             (select coalesce(json_agg(s), '[]')
                from (select id, name, host(address) as address, host(address6) as address6, helo
                        from sources where id in (select source_id from claimed)) s) as sources`,
  )
}

export async function readNow(sql: AnySql): Promise<Date> {
  return onlyRow(await sql<{ now: Date }[]>`select service_now() as now`).now
}

export async function readChecks(sql: AnySql, sourceIds?: readonly number[]): Promise<StoredChecks[]> {
  return sql<StoredChecks[]>`
    select source_id as "sourceId", records, checked_at as "checkedAt" from source_checks
     ${sourceIds ? sql`where source_id = any(${[...sourceIds]}::int[])` : sql``}`
}

/** Stores the results, unless the source was removed. Spread by a tenth, so that sources are not always checked together. */
export async function saveRecords(sql: AnySql, sourceId: number, records: readonly RecordCheck[]): Promise<void> {
  await sql`
    insert into source_checks (source_id, records, checked_at, check_at)
    select id, ${storableJson(records)}::text::jsonb, service_now(),
           service_now() + ${SCHEDULE.records.every}::text::interval * (0.95 + random() * 0.1)
      from sources where id = ${sourceId} for key share
    on conflict (source_id) do update set records = excluded.records, checked_at = excluded.checked_at, check_at = excluded.check_at`
}

export async function readListings(
  sql: AnySql,
  sourceIds?: readonly number[],
): Promise<(Listing & { sourceId: number })[]> {
  return sql<(Listing & { sourceId: number })[]>`
    select source_id as "sourceId", host(address) as address, list, state, codes, severe as "isSevere", problem, since, checked_at as "checkedAt"
      from source_listings ${sourceIds ? sql`where source_id = any(${[...sourceIds]}::int[])` : sql``}
     order by source_id, address, list`
}

export type NewListing = Verdict & Pick<Listing, 'address' | 'list'>

/** Replaces the listings of a source, unless it was removed. */
export async function saveListings(sql: Sql, sourceId: number, listings: readonly NewListing[]): Promise<void> {
  const rows = sql`
    jsonb_to_recordset(${storableJson(listings)}::text::jsonb)
      as n (address inet, list text, state text, codes jsonb, "isSevere" boolean, problem text)`
  await sql`
    with source as materialized (
      select id from sources where id = ${sourceId} for key share
    ), gone as (
      delete from source_listings l
       where source_id = ${sourceId} and not exists (select 1 from ${rows} where n.address = l.address and n.list = l.list)
    ), saved as (
      insert into source_listings as l (source_id, address, list, state, codes, severe, problem, since, checked_at)
      select source.id, n.address, n.list, n.state, array(select jsonb_array_elements_text(n.codes)), n."isSevere", n.problem,
             service_now(), service_now()
        from source, ${rows}
      on conflict (source_id, address, list) do update set
        state = excluded.state, codes = excluded.codes, severe = excluded.severe, problem = excluded.problem,
        checked_at = excluded.checked_at, overruled = l.overruled and excluded.severe,
        since = case when l.state = excluded.state then l.since else excluded.since end
    )
    insert into source_checks (source_id, listings_at)
    select id, service_now() + ${SCHEDULE.listings.every}::text::interval * (0.95 + random() * 0.1) from source
    on conflict (source_id) do update set listings_at = excluded.listings_at`
}
