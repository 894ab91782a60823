import type { AnySql, Sql } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'
import { type DnsQuery, printableValue, withDns } from '../../platform/net/dns-lookup.ts'
import type { StoredDomain } from '../store.ts'
import { type DmarcWalk, walkDmarc } from './dmarc-walk.ts'

/** Facts of a domain that are looked up in addition to its records. */
export interface GuardLookup extends DmarcWalk {
  /** Hosts of the name servers of its zone; null if they are not known. */
  readonly nameServers: readonly string[] | null
}

/** Looks up the DMARC record that applies to a domain, and who answers for it; undefined if a query failed. */
export function lookUpGuard(
  servers: readonly string[],
  { name }: Pick<StoredDomain, 'name'>,
  signal?: AbortSignal,
): Promise<GuardLookup | undefined> {
  return withDns({ servers, signal }, async (query) => {
    const walk = await walkDmarc(query, name)
    return walk && { ...walk, nameServers: await nameServersOf(query, name, walk.organisational) }
  })
}

/** The zone of a domain begins at it or at a parent, no further up than the organizational domain. */
async function nameServersOf(query: DnsQuery, name: string, organisational: string): Promise<string[] | null> {
  const labels = name.split('.')
  const count = Math.min(MAX_ZONES, labels.length - organisational.split('.').length + 1)
  for (let at = 0; at < count; at++) {
    const answer = await query('NS', labels.slice(at).join('.'))
    if (answer.kind === 'unanswered') return null
    if (answer.values.length > 0) return answer.values.slice(0, MAX_NAME_SERVERS).map(printableValue)
  }
  return null
}

const MAX_ZONES = 5
const MAX_NAME_SERVERS = 13

/** Stores what was found, unless the domain was deleted. A failed query is not a missing record: the previous result stays. */
export async function saveGuard(
  sql: Sql,
  { id }: Pick<StoredDomain, 'id'>,
  found: GuardLookup | undefined,
): Promise<void> {
  if (!found) return
  const { dmarc, nameServers, organisational } = found
  await sql`
    insert into domain_guards (domain_id, dmarc, organisational, name_servers, checked_at)
    select id, ${storableJson(dmarc)}::text::jsonb, ${organisational}, ${nameServers && [...nameServers]}::text[], service_now()
      from domains where id = ${id} for key share
    on conflict (domain_id) do update
       set dmarc = excluded.dmarc, organisational = excluded.organisational, checked_at = excluded.checked_at,
           name_servers = coalesce(excluded.name_servers, domain_guards.name_servers)`
}

/** Hosts of the name servers that the last check of a domain found; none before it. */
export async function selectNameServers(sql: AnySql, domainId: number): Promise<readonly string[]> {
  const rows = await sql<{ hosts: string[] | null }[]>`
    select name_servers as hosts from domain_guards where domain_id = ${domainId}`
  return rows[0]?.hosts ?? []
}
