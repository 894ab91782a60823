import type { AnySql } from '../../platform/database/database.ts'

/** How far the sequence numbers are behind the events. */
export interface EventLag {
  /** Seconds since the next event to be numbered happened; null if none waits. */
  readonly seconds: number | null
  /** When events were last numbered; null if they never were. */
  readonly numberedAt: Date | null
}

/** One index probe per partition, however many events wait. */
export async function readEventLag(sql: AnySql): Promise<EventLag> {
  const [row] = await sql<EventLag[]>`
    select extract(epoch from service_now() - next.occurred_at)::float8 as seconds, c.moved_at as "numberedAt"
      from event_cursors c
      left join lateral (
        select e.occurred_at from events e where e.transaction > c.transaction order by e.transaction limit 1) next on true
     where c.name = 'numbers'`
  return row ?? { seconds: null, numberedAt: null }
}
