import type { Sql } from '../platform/database/database.ts'
import { COUNTS } from './count-deliveries.ts'

/** Days for which counts are kept by hour, and by day; the sums of accounts, and those at providers. */
const DAYS = { hours: 14, all: 400, sums: 31, providers: 2 } as const
/** Rows changed at once. */
const CHUNK = 5000

/**
 * Adds old hours up to days, and deletes what is older still. Returns the number of rows that were changed.
 *
 * `order by hour` makes the planner use the indexes of hours: most of the time there is nothing to do, but it expects a third of the rows,
 * and walked the key (3 s for three million counts).
 */
export async function foldCounts(sql: Sql): Promise<number> {
  const write = sql.unsafe
  const folded = await sql`
    with old as (
      delete from delivery_counts where (account_id, hour, domain_id, class, provider, source) in (
        select account_id, hour, domain_id, class, provider, source from delivery_counts
         where hour < date_trunc('day', service_now(), 'UTC') - make_interval(days => ${DAYS.hours})
           and extract(hour from hour at time zone 'UTC') <> 0
         order by hour limit ${CHUNK} for update skip locked)
      returning *
    )
    insert into delivery_counts as d (account_id, hour, domain_id, class, provider, source, ${write(COUNTS.join(', '))})
    select account_id, date_trunc('day', hour, 'UTC') as day, domain_id, class, provider, source,
           ${write(COUNTS.map((name) => `sum(${name})`).join(', '))}
      from old group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (account_id, hour, domain_id, class, provider, source) do update
       set ${write(COUNTS.map((name) => `${name} = d.${name} + excluded.${name}`).join(', '))}`
  const deleted = await sql`
    delete from delivery_counts where (account_id, hour, domain_id, class, provider, source) in (
      select account_id, hour, domain_id, class, provider, source from delivery_counts
       where hour < service_now() - make_interval(days => ${DAYS.all}) order by hour limit ${CHUNK})`
  const sums = await sql`
    delete from account_counts where (account_id, hour) in (
      select account_id, hour from account_counts where hour < service_now() - make_interval(days => ${DAYS.sums}) order by hour limit ${CHUNK})`
  const providers = await sql`
    delete from provider_counts where (account_id, hour, provider) in (
      select account_id, hour, provider from provider_counts
       where hour < service_now() - make_interval(days => ${DAYS.providers}) order by hour limit ${CHUNK})`
  return folded.count + deleted.count + sums.count + providers.count
}
