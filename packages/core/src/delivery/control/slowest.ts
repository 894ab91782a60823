import type { Sql } from '../../platform/database/database.ts'

/** A destination by how long its latest attempts took. */
export interface SlowDestination {
  readonly place: string
  readonly attempts: number
  /** Milliseconds from the beginning to the outcome. */
  readonly mean: number
  readonly longest: number
}

/** Attempts that are read, of the messages that were accepted last: a few pages of the end of an index, however many there are. */
const READ = 500
/** Below, an attempt is not slow. */
const SLOW_MS = 1000

/** Returns the destinations whose latest attempts took longest on average. */
export function readSlowest(sql: Sql, limit: number): Promise<SlowDestination[]> {
  return sql<SlowDestination[]>`
    with latest as materialized (
      select place, milliseconds from attempts order by message_id desc, recipient_no desc, attempt desc limit ${READ}
    )
    select place, count(*)::int as attempts, avg(milliseconds)::int as mean, max(milliseconds) as longest
      from latest where place is not null
     group by place having avg(milliseconds) >= ${SLOW_MS}
     order by mean desc, place limit ${limit}`
}
