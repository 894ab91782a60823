import type { Test } from 'tap'
import { fill, SECRET_KEY } from '../../bench/growth/fill.ts'
import type { Owners } from '../../bench/growth/owners.ts'
import { scaleOf } from '../../bench/growth/scale.ts'
import { makeFilledDatabase } from './database.ts'
import { makeServiceOn, type TestService } from './service.ts'

/** How many times more rows than there are the planner is made to believe in. */
const BELIEVED = 200

/**
 * A service on a database filled in the proportions of one with ten million messages (bench/growth), a two hundredth of it. The planner is
 * told that it is all there: what it plans is what it would plan there. Statistics of values are those of the rows.
 *
 * The first test of a run fills the database, which takes five seconds of processor time, and the others have copies of it.
 */
export async function makeGrownService(t: Test): Promise<{ service: TestService; owners: Owners }> {
  const { database, filled: owners } = await makeFilledDatabase(fillSmall)
  const service = await makeServiceOn(t, database, { SECRET_KEY })
  await service.sql`
    update pg_class set reltuples = reltuples * ${BELIEVED}::float4
     where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace and reltuples > 0
       and relname ~ '^(messages|events|bodies|attempts|finished_deliveries|engagements|delivery_queue|suppressions|roll_ups|tags|event_pages)'`
  return { service, owners }
}

function fillSmall(url: string): Promise<Owners> {
  const small = { smalls: 1000, subaccounts: 200, mediums: 3, largeDomains: 100, mediumDomains: 3, countedDays: 30 }
  return fill(
    url,
    { ...scaleOf(1 / BELIEVED), ...small, smallCountedDays: 3, tags: 3000, personEvery: 100, lists: false },
    () => {},
  )
}
