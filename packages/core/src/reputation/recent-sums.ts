import type { AnySql } from '../platform/database/database.ts'

/** Sums of all accounts in one hour, so far. */
export interface HourSums {
  readonly hour: Date
  /** Recipients. */
  readonly accepted: number
  readonly delivered: number
  /** Attempts. */
  readonly deferred: number
  readonly bounced: number
}

/**
 * Returns the sums of this hour and, in its first minutes, those of the last one, whose latest events may not be counted yet. Reads one row of an index for
 * each account that sent in that hour.
 */
export function readRecentSums(sql: AnySql): Promise<HourSums[]> {
  return sql<HourSums[]>`
    select hour, sum(accepted)::float8 as accepted, sum(delivered)::float8 as delivered, sum(deferred)::float8 as deferred,
           sum(hard + soft)::float8 as bounced
      from account_counts where hour >= date_trunc('hour', service_now() - interval '2 minutes', 'UTC') group by hour order by hour`
}
