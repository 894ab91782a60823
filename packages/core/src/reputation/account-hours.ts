import type { Sql } from '../platform/database/database.ts'

/** Outcomes of an account's mail in an hour or a day. */
export interface CountsOfSpan {
  readonly at: Date
  readonly accepted: number
  readonly delivered: number
  readonly deferred: number
  readonly hard: number
  readonly soft: number
  readonly complained: number
}

/** `hour`: the last 1 to 336 hours; `day`: the last 1 to 31 days of UTC, for which the sums of accounts are kept. */
export interface SpanOfCounts {
  readonly unit: 'hour' | 'day'
  readonly count: number
}

const MAX_SPANS = { hour: 336, day: 31 }

/** Returns the counts of each hour or day, the present one last; zeros where there was no mail. They are exact up to the last numbered event. */
export async function selectAccountHours(
  sql: Sql,
  accountId: number,
  { unit, count }: SpanOfCounts,
): Promise<CountsOfSpan[]> {
  const spans = Math.min(MAX_SPANS[unit], Math.max(1, count))
  const step = `1 ${unit}`
  return sql<CountsOfSpan[]>`
    select s.at, coalesce(c.accepted, 0)::float8 as accepted, coalesce(c.delivered, 0)::float8 as delivered,
           coalesce(c.deferred, 0)::float8 as deferred, coalesce(c.hard, 0)::float8 as hard, coalesce(c.soft, 0)::float8 as soft,
           coalesce(c.complained, 0)::float8 as complained
      from (select date_trunc(${unit}, service_now(), 'UTC') - n * ${step}::interval as at from generate_series(0, ${spans - 1}) n) s
      left join (
        select date_trunc(${unit}, hour, 'UTC') as at, sum(accepted) as accepted, sum(delivered) as delivered, sum(deferred) as deferred,
               sum(hard) as hard, sum(soft) as soft, sum(complained) as complained
          from account_counts
         where account_id = ${accountId} and hour >= date_trunc(${unit}, service_now(), 'UTC') - ${spans - 1} * ${step}::interval
         group by 1) c using (at)
     order by s.at`
}
