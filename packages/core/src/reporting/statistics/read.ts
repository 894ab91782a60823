import { type AnySql, onlyRow, type SqlTransaction } from '../../platform/database/database.ts'
import { BUCKETS, type Histogram } from './delivery-times.ts'
import { type Counts, METRICS, type Metric, type Subject, type Weights } from './metrics.ts'
import type { Period, Span } from './periods.ts'

/** Counts of one name, or of all further ones together, over some days. */
export interface CountsRow {
  /** Null: all names that have no row of their own. */
  readonly name: string | null
  readonly counts: Counts
  /** Of deliveries, by delivery_time_bucket; null: there were none, or they were not asked for. */
  readonly histogram: Histogram | null
}

/** A {@link CountsRow} of a period, which is told by its first day. */
export interface PeriodRow extends CountsRow {
  readonly date: string
}

/** What an answer holds: every event up to this one, and none behind it. */
export interface AsOf {
  /** The account's last event counted; 0: none was. */
  readonly event: number
  /** When that one happened; null: there was none, or it is no longer kept. */
  readonly time: Date | null
}

/** Names that are told apart in one answer over several periods. */
const NAMES = 100

interface Row extends Counts {
  readonly date: string
  readonly name: string | null
  readonly histogram: Histogram | null
}

/** Whole numbers are exact as doubles, and are added in a tenth of the time it takes as numeric, which sum(bigint) makes of them. */
const summed = METRICS.map((metric) => `sum(r.${metric}::float8) as ${metric}`).join(', ')
/** A sum a bucket: a quarter of what adding up whole arrays costs. */
const buckets = Array.from({ length: BUCKETS }, (_, at) => `coalesce(sum(r.delivery_times[${at + 1}]), 0)`).join(', ')

const columns = (sql: SqlTransaction, times: boolean) => sql`
  ${sql.unsafe(summed)}, ${sql.unsafe(times ? `array[${buckets}]::float8[]` : 'null::float8[]')} as histogram`

/** The first day of the period within the page of periods that is asked for. */
const dateOf = (sql: SqlTransaction, period: Period, page: Span) => sql`
  to_char(greatest(date_trunc(${period}::text, r.day::timestamp)::date, ${page.first}::text::date), 'YYYY-MM-DD')`

const within = (sql: SqlTransaction, { first, last }: Span) => sql`between ${first}::text::date and ${last}::text::date`

export interface PeriodsQuestion {
  readonly accountId: number
  readonly period: Period
  /** From the first of the periods asked for to the last of them. */
  readonly page: Span
  readonly times: boolean
}

/**
 * One name's days, to be joined. By the key, whatever the planner believes: where the average account has a few names, the index of
 * days looks as good, and reads the days of all names of a large one.
 */
const ofName = (
  sql: SqlTransaction,
  { accountId, subject, name, span }: { accountId: number; subject: string; name: ReturnType<AnySql>; span: Span },
) => sql`
  lateral (select * from roll_ups
            where account_id = ${accountId} and subject = ${subject} and name = ${name} and day ${within(sql, span)} offset 0)`

/** What is counted: everything (the name ''), or some names. */
export interface Counted {
  readonly subject: Subject | 'total'
  readonly names: readonly string[]
  /** What each of the names is counted as; those of one word are added up. Undefined: as itself. */
  readonly as?: readonly string[]
}

export async function selectCounts(
  sql: SqlTransaction,
  { accountId, period, page, times }: PeriodsQuestion,
  { subject, names, as = names }: Counted,
): Promise<PeriodRow[]> {
  const rows: PeriodRow[] = []
  const found = sql<Row[]>`
    select ${dateOf(sql, period, page)} as date, asked.counted_as as name, ${columns(sql, times)}
      from unnest(${[...names]}::text[], ${[...as]}::text[]) asked(name, counted_as)
     cross join ${ofName(sql, { accountId, subject, name: sql`asked.name`, span: page })} r
     group by 1, 2`
  // One by one: an answer has up to ten thousand.
  await found.forEach((row) => {
    rows.push(asPeriodRow(row))
  })
  return rows
}

/** Of each of the hundred names with most mail in the whole span, and of all others together. */
export async function selectCountsOfEach(
  sql: SqlTransaction,
  { accountId, period, page, times }: PeriodsQuestion,
  { subject, span }: { subject: Subject; span: Span },
): Promise<PeriodRow[]> {
  const rows = await sql<Row[]>`
    with top as materialized (
      select name from roll_ups where account_id = ${accountId} and subject = ${subject} and day ${within(sql, span)}
       group by name order by sum(sent::float8) desc, sum(processed::float8) desc, name limit ${NAMES}
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

/** Of each of the hundred subaccounts with most mail in the whole span, and of all others together. */
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
       group by own.id order by sum(r.sent::float8) desc, sum(r.processed::float8) desc, own.id limit ${NAMES}
    ), counted as (
      select ${dateOf(sql, period, page)} as date, case when own.id in (select id from top) then own.username end as name,
             ${columns(sql, times)}
        from own join roll_ups r on r.account_id = own.id and r.subject = 'total' and r.name = '' and r.day ${within(sql, page)}
       group by 1, 2
    )
    select * from counted order by date, name is null, sent desc, name`
  return rows.map(asPeriodRow)
}

/** How many counts of single names there are in a span, or `most` and one. */
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
  /** Only this one. Undefined: each, those with most mail first. */
  readonly name: string | undefined
  readonly span: Span
  readonly times: boolean
  readonly order: Order
  readonly limit: number
  readonly offset: number
}

/** Which names come first: those with most, or least, of a sum of metrics. */
export interface Order {
  readonly by: Weights
  readonly descending: boolean
}

const orderOf = (sql: SqlTransaction, { by, descending }: Order) => {
  const terms = METRICS.flatMap((metric) => (by[metric] ? [`${by[metric]} * sum(r.${metric}::float8)`] : []))
  return sql.unsafe(`${terms.join(' + ')} ${descending ? 'desc' : 'asc'}`)
}

/** Over the whole span, a row a name. */
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

/** To be read in the snapshot of the counts; for each of the accounts. */
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
