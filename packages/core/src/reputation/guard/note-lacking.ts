import type { RequirementMode } from '../../accounts/account-settings.ts'
import { LIMITS_CHANNEL } from '../../delivery/limits/overrides.ts'
import type { Sql } from '../../platform/database/database.ts'
import { readDomainFacts } from './facts.ts'
import { lackedBy } from './requirements.ts'

/**
 * Stores which demands on large senders a domain lacks by its records, and tells workers if that has changed. Nothing is stored of a domain whose DMARC
 * record was never looked up: it is not known to lack anything.
 */
export async function noteLacking(sql: Sql, domainId: number, usual: RequirementMode): Promise<void> {
  const [facts] = await readDomainFacts(sql, [domainId], usual)
  if (!facts) return
  const lacks = lackedBy(facts)
  await sql`
    with changed as (
      update domain_guards
         set lacks = ${lacks}::text[],
             lacking_since = case when ${lacks.length} > 0 then coalesce(lacking_since, service_now()) end
       where domain_id = ${domainId} and lacks is distinct from ${lacks}::text[] returning domain_id)
    select pg_notify(${LIMITS_CHANNEL}, '') from changed`
}
