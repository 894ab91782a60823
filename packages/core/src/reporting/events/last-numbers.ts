import type { AnySql } from '../../platform/database/database.ts'

/** Returns the sequence number of each account's last event. Accounts without events are omitted. */
export async function lastNumbers(
  sql: AnySql,
  accountIds: readonly number[],
): Promise<{ accountId: number; last: number }[]> {
  return sql<{ accountId: number; last: number }[]>`
    select a.id as "accountId", p.last from unnest(${[...accountIds]}::int[]) as a(id)
     cross join lateral (
       select (first_number + count - 1)::float8 as last from event_pages
        where account_id = a.id order by first_number desc limit 1) p`
}
