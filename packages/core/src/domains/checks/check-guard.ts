import type { Sql } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'
import { withDns } from '../../platform/net/dns-lookup.ts'
import type { StoredDomain } from '../store.ts'
import { type DmarcWalk, walkDmarc } from './dmarc-walk.ts'

/** Looks up the DMARC record that applies to a domain; undefined if a query failed. */
export function lookUpDmarc(
  servers: readonly string[],
  { name }: Pick<StoredDomain, 'name'>,
  signal?: AbortSignal,
): Promise<DmarcWalk | undefined> {
  return withDns({ servers, signal }, (query) => walkDmarc(query, name))
}

/** Stores what was found, unless the domain was deleted. A failed query is not a missing record: the previous result stays. */
export async function saveDmarc(
  sql: Sql,
  { id }: Pick<StoredDomain, 'id'>,
  walk: DmarcWalk | undefined,
): Promise<void> {
  if (!walk) return
  await sql`
    insert into domain_guards (domain_id, dmarc, organisational, checked_at)
    select id, ${storableJson(walk.dmarc)}::text::jsonb, ${walk.organisational}, service_now()
      from domains where id = ${id} for key share
    on conflict (domain_id) do update
       set dmarc = excluded.dmarc, organisational = excluded.organisational, checked_at = excluded.checked_at`
}
