import type { Sql } from '@postrider/core'
import { fill } from '../../bench/growth/fill.ts'
import type { Owners } from '../../bench/growth/owners.ts'
import { scaleOf } from '../../bench/growth/scale.ts'

/** How many times more rows than there are the planner is made to believe in. */
const BELIEVED = 200

/**
 * Fills a database in the proportions of one with ten million messages (bench/growth), a two hundredth of it, and tells the
 * planner that it is all there: what it plans is what it would plan there. Statistics of values are those of the rows.
 */
export async function growDatabase(sql: Sql, url: string): Promise<Owners> {
  const small = { smalls: 1000, subaccounts: 200, mediums: 3, largeDomains: 100, mediumDomains: 3, countedDays: 30 }
  const owners = await fill(
    url,
    { ...scaleOf(1 / BELIEVED), ...small, smallCountedDays: 3, tags: 3000, personEvery: 100, lists: false },
    () => {},
  )
  await sql`
    update pg_class set reltuples = reltuples * ${BELIEVED}::float4
     where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace and reltuples > 0
       and relname ~ '^(messages|events|bodies|attempts|finished_deliveries|engagements|delivery_queue|suppressions|roll_ups|tags|event_pages)'`
  return owners
}
