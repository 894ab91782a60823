import { type AnySql, onlyRow } from '../platform/database/database.ts'

/** Numbers of domains, webhooks and sources that are in trouble. */
export interface ServiceCounts {
  /** Sending domains that may not send, because a required record is gone. */
  readonly inactiveDomains: number
  /** Active ones that become so unless the record comes back. */
  readonly failingDomains: number
  /** Webhooks that were disabled because they failed for too long. */
  readonly disabledWebhooks: number
  /** Sources that a block list has. */
  readonly listedSources: number
}

/** The row of `instance` by which workers share the last counts, and the seconds for which they do. */
const ROW = 'service counts'
const SHARED_SECONDS = 60

interface Shared extends Partial<ServiceCounts> {
  /** Unix time of the claim to count, in seconds. */
  readonly at: number
}

/**
 * Counts at most once a minute for all workers together: these tables are smaller than those of messages, but are read whole. The worker that claims
 * the turn counts, the others use what was counted before. Undefined until the first counts are there.
 */
export async function readServiceCounts(sql: AnySql): Promise<ServiceCounts | undefined> {
  const now = sql`extract(epoch from service_now())::float8`
  const isDue = sql`(i.value::jsonb ->> 'at')::float8 not between ${now} - ${SHARED_SECONDS}::float8 and ${now}`
  const [last] = await sql<{ value: string; isDue: boolean }[]>`
    select value, ${isDue} as "isDue" from instance i where name = ${ROW}`
  if (last && !last.isDue) return countsOf(last.value)
  const claimed = await sql`
    insert into instance as i (name, value) values (${ROW}, json_build_object('at', ${now})::text)
    on conflict (name) do update set value = (i.value::jsonb || jsonb_build_object('at', ${now}))::text where ${isDue}
    returning name`
  if (claimed.length === 0) return last && countsOf(last.value)
  const counts = await count(sql)
  await sql`
    update instance set value = (value::jsonb || ${JSON.stringify(counts)}::text::jsonb)::text where name = ${ROW}`
  return counts
}

async function count(sql: AnySql): Promise<ServiceCounts> {
  return onlyRow(
    await sql<ServiceCounts[]>`
      select count(*) filter (where state = 'inactive')::int as "inactiveDomains",
             count(*) filter (where state = 'active' and broken_since is not null)::int as "failingDomains",
             (select count(*)::int from webhooks where not enabled and disabled_at is not null) as "disabledWebhooks",
             (select count(distinct source_id)::int from source_listings where state = 'listed') as "listedSources"
        from domains where deleted_at is null`,
  )
}

function countsOf(text: string): ServiceCounts | undefined {
  const { at: _, ...counts } = JSON.parse(text) as Shared
  return counts.inactiveDomains === undefined ? undefined : (counts as ServiceCounts)
}
