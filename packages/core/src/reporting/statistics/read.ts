import type { AnySql, SqlTransaction } from '../../platform/database/database.ts'
import { BUCKETS, type Histogram } from './delivery-times.ts'
import { type Counts, METRICS, type Metric, type Subject, type Weights } from './metrics.ts'
import { type Part, partsOfAll, partsOfNames, type Sought, withOthers } from './parts.ts'
import type { Period, Span } from './periods.ts'

/** Counts over some days, of one name or of all names without their own row. */
export interface CountsRow {
  /** Null for the sum of all names without their own row. */
  readonly name: string | null
  readonly counts: Counts
  /** Deliveries by delivery_time_bucket; null if there were none or they were not requested. */
  readonly histogram: Histogram | null
}

/** A {@link CountsRow} of a period, which is identified by its first day. */
export interface PeriodRow extends CountsRow {
  readonly date: string
}

/** The position of a response: it contains all events up to this one and no later event. */
export interface AsOf {
  /** Sequence number of the account's last counted event; 0 if none. */
  readonly event: number
  /** Time of that event; null if there is none or it is no longer stored. */
  readonly time: Date | null
}

/** Maximum names with separate counts in a response over several periods. */
const MAX_NAMES = 100

interface Row extends Counts {
  readonly date: string
  readonly name: string | null
  readonly histogram: Histogram | null
}

/** Integers are exact as doubles, and adding doubles takes a tenth of the time of numeric, which sum(bigint) uses. */
const summed = METRICS.map((metric) => `sum(r.${metric}::float8) as ${metric}`).join(', ')
/** One sum per bucket takes a quarter of the time of adding arrays. */
const buckets = Array.from({ length: BUCKETS }, (_, at) => `coalesce(sum(r.delivery_times[${at + 1}]), 0)`).join(', ')

const columns = (sql: SqlTransaction, times: boolean) => sql`
  ${sql.unsafe(summed)}, ${sql.unsafe(times ? `array[${buckets}]::float8[]` : 'null::float8[]')} as histogram`

/** The first day of the period, cut to the requested page of periods. */
const dateOf = (sql: SqlTransaction, period: Period, page: Span) => sql`
  to_char(greatest(date_trunc(${period}::text, r.day::timestamp)::date, ${page.first}::text::date), 'YYYY-MM-DD')`

const within = (sql: SqlTransaction, { first, last }: Span) => sql`between ${first}::text::date and ${last}::text::date`

export interface PeriodsQuestion {
  readonly accountId: number
  readonly period: Period
  /** From the first to the last requested period. */
  readonly page: Span
  readonly times: boolean
}

/**
 * Selects the rollups of one name for a join with a {@link Part}. `offset 0` enforces a lookup, and comparing rows one by key: if the
 * average account has few names, the planner considers the index of days as good, by which it reads all names of a large account (3.5 s
 * for ten names of a thousand days, 0.2 s by key).
 */
const ofName = (sql: SqlTransaction, accountId: number, name: ReturnType<AnySql>) => sql`
  lateral (select * from roll_ups
            where account_id = ${accountId} and subject = part.subject
              and (name, day) >= (${name}, part.first) and (name, day) <= (${name}, part.last) offset 0)`

const partsTable = (sql: SqlTransaction, parts: readonly Part[]) => sql`
  unnest(${parts.map(({ subject }) => subject)}::text[], ${parts.map(({ isOther }) => String(isOther))}::text[]::boolean[],
         ${parts.map(({ first }) => first)}::text[]::date[], ${parts.map(({ last }) => last)}::text[]::date[])
    part(subject, is_other, first, last)`

/** Selects the rollups `r` of all names in some parts, each by the index of days. */
const inParts = (sql: SqlTransaction, accountId: number, parts: readonly Part[]) => sql`
  ${partsTable(sql, parts)}
  cross join lateral (select * from roll_ups
                       where account_id = ${accountId} and subject = part.subject and day between part.first and part.last offset 0) r`

/** The names to be counted; for everything, the subject `total` with the name ''. */
export interface Counted {
  readonly subject: Subject | 'total'
  readonly names: readonly string[]
  /** The name under which each name is counted; equal ones are added up. Undefined if each name is counted as itself. */
  readonly as?: readonly string[]
  /** Where they are; undefined for the rollups of days. */
  readonly parts?: readonly Part[]
}

/** Returns the counts of some names by period. */
export async function selectCounts(
  sql: SqlTransaction,
  { accountId, period, page, times }: PeriodsQuestion,
  { subject, names, as = names, parts = [{ subject, isOther: false, ...page }] }: Counted,
): Promise<PeriodRow[]> {
  const rows: PeriodRow[] = []
  const found = sql<Row[]>`
    select ${dateOf(sql, period, page)} as date, wanted.counted_as as name, ${columns(sql, times)}
      from unnest(${[...names]}::text[], ${[...as]}::text[]) wanted(name, counted_as)
     cross join ${partsTable(sql, parts)}
     cross join ${ofName(sql, accountId, sql`wanted.name`)} r
     group by 1, 2`
  // Row by row, because there are up to ten thousand.
  await found.forEach((row) => {
    rows.push(asPeriodRow(row))
  })
  return rows
}

/**
 * Returns the first day of a subject that is not summed, for accounts with many names; null if none is. Must be called in the snapshot in
 * which the rollups are read.
 */
export async function selectThrough(sql: SqlTransaction, accountId: number, subject: Subject): Promise<string | null> {
  const [row] = await sql<{ through: string }[]>`
    select to_char(through, 'YYYY-MM-DD') as through from roll_up_sums where account_id = ${accountId} and subject = ${subject}`
  return row?.through ?? null
}

/** Returns the counts of the 100 names with most mail in the whole date range, and of all names together, by period. */
export async function selectCountsOfEach(
  sql: SqlTransaction,
  question: PeriodsQuestion,
  sought: Sought,
): Promise<{ named: PeriodRow[]; all: PeriodRow[] }> {
  const { accountId, period, page, times } = question
  const { subject } = sought
  const top = await sql<{ name: string }[]>`
    select r.name from ${inParts(sql, accountId, partsOfNames(sought))}
     group by r.name order by sum(r.sent::float8) desc, sum(r.processed::float8) desc, r.name limit ${MAX_NAMES}`
  const onPage = { ...sought, span: page }
  const names = top.map(({ name }) => name)
  const named = await selectCounts(sql, question, { subject, names, parts: partsOfNames(onPage, period) })
  const all = await sql<Row[]>`
    select ${dateOf(sql, period, page)} as date, null as name, ${columns(sql, times)}
      from ${inParts(sql, accountId, partsOfAll(onPage))} group by 1`
  return { named, all: all.map(asPeriodRow) }
}

/** Returns the counts of the 100 subaccounts with most mail in the whole date range, and of all others together, by period. */
export async function selectCountsOfSubaccounts(
  sql: SqlTransaction,
  { accountId, period, page, times }: PeriodsQuestion,
  span: Span,
): Promise<PeriodRow[]> {
  const rows = await sql<Row[]>`
    with own as materialized (
      select id, username from accounts where parent_id = ${accountId} and deleted_at is null
    ), top as materialized (
      select own.id from own
        join roll_ups r on r.account_id = own.id and r.subject = 'total' and r.name = '' and r.day ${within(sql, span)}
       group by own.id order by sum(r.sent::float8) desc, sum(r.processed::float8) desc, own.id limit ${MAX_NAMES}
    ), counted as (
      select ${dateOf(sql, period, page)} as date, case when own.id in (select id from top) then own.username end as name,
             ${columns(sql, times)}
        from own join roll_ups r on r.account_id = own.id and r.subject = 'total' and r.name = '' and r.day ${within(sql, page)}
       group by 1, 2
    )
    select * from counted order by date, name is null, sent desc, name`
  return rows.map(asPeriodRow)
}

export interface NamesQuestion {
  readonly accountId: number
  readonly subject: Subject
  readonly span: Span
  readonly times: boolean
  readonly order: Order
  readonly limit: number
  readonly offset: number
}

/** An order of names by a weighted sum of metrics. */
export interface Order {
  readonly by: Weights
  readonly descending: boolean
}

const weightOf = (sql: SqlTransaction, { by }: Order) =>
  sql.unsafe(METRICS.flatMap((metric) => (by[metric] ? [`${by[metric]} * sum(r.${metric}::float8)`] : [])).join(' + '))
const directionOf = (sql: SqlTransaction, { descending }: Order) => sql.unsafe(descending ? 'desc' : 'asc')

/** Returns the sums over the whole date range, one row per name. */
export async function selectSums(
  sql: SqlTransaction,
  { accountId, subject, span, times, order, limit, offset }: NamesQuestion,
): Promise<{ rows: CountsRow[]; total: number }> {
  const through = await selectThrough(sql, accountId, subject)
  const parts = withOthers(partsOfNames({ subject, span, through }))
  // Those of the page are found by one metric; adding up all of them, and delivery times, takes ten times as long.
  const rows = await sql<(Row & { total: number })[]>`
    with ranked as materialized (
      select part.is_other, r.name, ${weightOf(sql, order)} as weight, sum(r.processed::float8) as processed, count(*) over ()::int as total
        from ${inParts(sql, accountId, parts)}
       group by part.is_other, r.name
       order by part.is_other, weight ${directionOf(sql, order)}, processed desc, r.name limit ${limit} offset ${offset}
    )
    select case when not ranked.is_other then ranked.name end as name, ranked.total, ${columns(sql, times)}
      from ranked join ${partsTable(sql, parts)} on part.is_other = ranked.is_other
     cross join ${ofName(sql, accountId, sql`ranked.name`)} r
     group by ranked.is_other, ranked.name, ranked.total, ranked.weight, ranked.processed
     order by ranked.is_other, ranked.weight ${directionOf(sql, order)}, ranked.processed desc, ranked.name`
  const first = rows[0]
  if (first || offset === 0) return { rows: rows.map(asCountsRow), total: first?.total ?? 0 }
  const [all] = await sql<{ total: number }[]>`
    select count(*)::int as total
      from (select from ${inParts(sql, accountId, parts)} group by part.is_other, r.name) names`
  return { rows: [], total: all?.total ?? 0 }
}

/** Returns the sums of one name over the whole date range; undefined if it has no mail. */
export async function selectSum(
  sql: SqlTransaction,
  {
    accountId,
    subject,
    name,
    span,
    times,
  }: Pick<NamesQuestion, 'accountId' | 'subject' | 'span' | 'times'> & { name: string },
): Promise<CountsRow | undefined> {
  const [row] = await sql<Row[]>`
    select r.name, ${columns(sql, times)}
      from ${partsTable(sql, [{ subject, isOther: false, ...span }])} cross join ${ofName(sql, accountId, sql`${name}::text`)} r
     group by r.name`
  return row && asCountsRow(row)
}

/** Returns the position of the account's counts. Must be called in the snapshot in which they are read. */
export async function selectAsOf(sql: SqlTransaction, accountId: number): Promise<AsOf> {
  const [row] = await sql<AsOf[]>`
    select (p.first_number + p.count - 1)::float8 as event, e.occurred_at as time
      from (select * from event_pages where account_id = ${accountId} order by first_number desc limit 1) p
      left join lateral (
        select occurred_at from events
         where account_id = p.account_id and transaction > p.after_transaction and transaction <= p.to_transaction
           and occurred_at >= p.week and occurred_at < p.week + interval '7 days'
         order by transaction desc, id desc limit 1) e on true`
  return row ?? { event: 0, time: null }
}

function asCountsRow({ name, histogram, ...row }: Row): CountsRow {
  const counts = {} as Record<Metric, number>
  for (const metric of METRICS) counts[metric] = row[metric]
  return { name, counts, histogram }
}

function asPeriodRow(row: Row): PeriodRow {
  return { date: row.date, ...asCountsRow(row) }
}
