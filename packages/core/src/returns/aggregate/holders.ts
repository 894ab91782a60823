import type { AnySql } from '../../platform/database/database.ts'

/** A sending domain that an account owns. */
export interface HeldDomain {
  readonly id: number
  readonly accountId: number
  readonly name: string
}

/** Names that are looked for. A report has one domain and its subdomains, so more are made up. */
const MAX_NAMES = 5000

/** Returns the sending domains that these names are, or are below of. Claims do not count. */
export async function selectHeld(sql: AnySql, names: readonly string[]): Promise<ReadonlyMap<string, HeldDomain>> {
  const wanted = [...new Set(names.flatMap(withParents))].slice(0, MAX_NAMES)
  const rows = await sql<HeldDomain[]>`
    select d.id, d.account_id as "accountId", d.name from domains d
      join accounts a on a.id = d.account_id and a.state <> 'deleted'
     where d.name = any(${wanted}::text[]) and d.deleted_at is null and d.state in ('active', 'inactive')`
  return new Map(rows.map((domain) => [domain.name, domain]))
}

/** The domain of an account that this name is, or is below of: the nearest one. */
export function holderOf(held: ReadonlyMap<string, HeldDomain>, name: string): HeldDomain | undefined {
  for (const one of withParents(name)) {
    const domain = held.get(one)
    if (domain) return domain
  }
  return undefined
}

/** A name, and those above it with at least two labels. */
function withParents(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
}
