import type { Sql } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { DomainState, DomainWithRecords } from './domain.ts'
import { withRecords } from './domain-records.ts'
import { domainName } from './own-domain.ts'
import type { ServiceHosts } from './records.ts'
import { selectDomainPage } from './store.ts'

export interface DomainsPage {
  readonly status?: string | undefined
  readonly name?: string | undefined
  readonly limit: number
  readonly offset: number
}

export async function pageDomains(
  { sql, hosts }: { readonly sql: Sql; readonly hosts: ServiceHosts },
  accountId: number,
  { status, name, ...page }: DomainsPage,
): Promise<{ domains: DomainWithRecords[]; total: number }> {
  const wanted = { ...page, states: statesOf(status), name: name === undefined ? undefined : domainName(name) }
  const { domains, total } = await selectDomainPage(sql, accountId, wanted)
  return { domains: await withRecords(sql, hosts, domains), total }
}

function statesOf(status: string | undefined): DomainState[] | undefined {
  if (status === undefined) return undefined
  const states = STATUSES.get(status)
  if (!states) throw invalidParameter('status', `must be one of: ${[...STATUSES.keys()].join(', ')}`)
  return [...states]
}

const STATUSES: ReadonlyMap<string, readonly DomainState[]> = new Map<string, readonly DomainState[]>([
  ['1', ['active']],
  ['0', ['pending', 'inactive', 'rejected']],
  ...(['pending', 'active', 'inactive', 'rejected'] as const).map((state) => [state, [state]] as const),
])
