import { type AnySql, onlyRow, type SqlTransaction } from '../../platform/database/database.ts'
import { BUCKETS, type Histogram } from './delivery-times.ts'
import { type Counts, METRICS, type Metric, type Subject, type Weights } from './metrics.ts'
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
 * Selects one name's days for a join. `offset 0` enforces a lookup, and comparing rows one by key: if the average account has few names,
 * the planner considers the index of days as good, by which it reads all names of a large account (3.5 s for ten names of a thousand
 * days, 0.2 s by key).
 */
const ofName = (
  sql: SqlTransaction,
  { accountId, subject, name, span }: { accountId: number; subject: string; name: ReturnType<AnySql>; span: Span },
) => sql`
  lateral (select * from roll_ups
            where account_id = ${accountId} and subject = ${subject}
              and (name, day) >= (${name}, ${span.first}::text::date) and (name, day) <= (${name}, ${span.last}::text::date) offset 0)`

/** The names to be counted; for everything, the subject `total` with the name ''. */
export interface Counted {
  readonly subject: Subject | 'total'
  readonly names: readonly string[]
  /** The name under which each name is counted; equal ones are added up. Undefined if each name is counted as itself. */
  readonly as?: readonly string[]
}

/** Returns the counts of some names by period. */
export async function selectCounts(
  sql: SqlTransaction,
  { accountId, period, page, times }: PeriodsQuestion,
  { subject, names, as = names }: Counted,
): Promise<PeriodRow[]> {
  const rows: PeriodRow[] = []
  const found = sql<Row[]>`
    select ${dateOf(sql, period, page)} as date, wanted.counted_as as name, ${columns(sql, times)}
      from unnest(${[...names]}::text[], ${[...as]}::text[]) wanted(name, counted_as)
     cross join ${ofName(sql, { accountId, subject, name: sql`wanted.name`, span: page })} r
     group by 1, 2`
  // Row by row, because there are up to ten thousand.
  await found.forEach((row) => {
    rows.push(asPeriodRow(row))
  })
  return rows
}

/** Returns the counts of the 100 names with most mail in the whole date range, and of all others together, by period. */
export async function selectCountsOfEach(
  sql: SqlTransaction,
  { accountId, period, page, times }: PeriodsQuestion,
  { subject, span }: { subject: Subject; span: Span },
): Promise<PeriodRow[]> {
  const rows = await sql<Row[]>`
    with top as materialized (
      select name from roll_ups where account_id = ${accountId} and subject = ${subject} and day ${within(sql, span)}
       group by name order by sum(sent::float8) desc, sum(processed::float8) desc, name limit ${MAX_NAMES}
    ), counted as (
      select ${dateOf(sql, period, page)} as date,
             case when r.subject = ${subject} and r.name in (select name from top) then r.name end as name, ${columns(sql, times)}
        from roll_ups r
       where account_id = ${accountId} and subject = any(${[subject, `other ${subject}`]}::text[]) and day ${within(sql, page)}
       group by 1, 2
    )
    select * from counted order by date, name is null, sent desc, name`
  return rows.map(asPeriodRow)
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

/** Returns the number of counts of single names in a date range, at most `most` + 1. */
export async function countNames(
  sql: SqlTransaction,
  { accountId, subject, span, most }: { accountId: number; subject: Subject | 'subaccount'; span: Span; most: number },
): Promise<number> {
  const counts =
    subject === 'subaccount'
      ? sql`select from (select id from accounts where parent_id = ${accountId} and deleted_at is null offset 0) own
             cross join lateral (select from roll_ups where account_id = own.id and subject = 'total' and name = ''
                                    and day ${within(sql, span)} offset 0) r`
      : sql`select from roll_ups where account_id = ${accountId} and subject = ${subject} and day ${within(sql, span)}`
  const rows = await sql<{ count: number }[]>`
    select count(*)::float8 as count from (${counts} limit ${most + 1}) counted`
  return onlyRow(rows).count
}

export interface NamesQuestion {
  readonly accountId: number
  readonly subject: Subject
  /** Only this name; if undefined, all names in the given order. */
  readonly name: string | undefined
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

const orderOf = (sql: SqlTransaction, { by, descending }: Order) => {
  const terms = METRICS.flatMap((metric) => (by[metric] ? [`${by[metric]} * sum(r.${metric}::float8)`] : []))
  return sql.unsafe(`${terms.join(' + ')} ${descending ? 'desc' : 'asc'}`)
}

/** Returns the sums over the whole date range, one row per name. */
export async function selectSums(
  sql: SqlTransaction,
  { accountId, subject, name, span, times, order, limit, offset }: NamesQuestion,
): Promise<{ rows: CountsRow[]; total: number }> {
  const every = sql`
    (select * from roll_ups where account_id = ${accountId} and subject = any(${[subject, `other ${subject}`]}::text[])
        and day ${within(sql, span)})`
  const matching = name === undefined ? every : ofName(sql, { accountId, subject, name: sql`${name}::text`, span })
  const rows = await sql<(Row & { total: number })[]>`
    select case when r.subject = ${subject} then r.name end as name, count(*) over ()::int as total, ${columns(sql, times)}
      from ${matching} r
     group by r.subject, r.name
     order by r.subject <> ${subject}, ${orderOf(sql, order)}, sum(r.processed::float8) desc, r.name
     limit ${limit} offset ${offset}`
  const first = rows[0]
  if (first || offset === 0) return { rows: rows.map(asCountsRow), total: first?.total ?? 0 }
  const [all] = await sql<{ total: number }[]>`
    select count(distinct (subject, name))::int as total from ${matching} r`
  return { rows: [], total: all?.total ?? 0 }
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
