import type { Sql } from '../platform/database/database.ts'
import type { Domain, DomainWithRecords } from './domain.ts'
import { selectPublicKeys } from './keys/keys-store.ts'
import { type ServiceHosts, wantedRecords, withSeen } from './records.ts'
import type { StoredDomain } from './store.ts'

export async function withRecords(
  sql: Sql,
  hosts: ServiceHosts,
  domains: readonly StoredDomain[],
): Promise<DomainWithRecords[]> {
  const ids = domains.map(({ id }) => id)
  const keys = Map.groupBy(await selectPublicKeys(sql, ids), ({ domainId }) => domainId)
  return domains.map(({ records, ...domain }) => {
    return { ...domain, dns: withSeen(wantedRecords(domain, keys.get(domain.id) ?? [], hosts), records) }
  })
}

/** Drops the record states, which are too large to cache for 50,000 domains. */
export function withoutRecords({ records: _, ...domain }: StoredDomain): Domain {
  return domain
}
