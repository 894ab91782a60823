import type { RequirementMode } from '../../accounts/account-settings.ts'
import type { AnySql } from '../../platform/database/database.ts'

/** The accounts and domains whose bulk mail waits because it lacks what large receivers demand. */
export interface RequirementHolds {
  /** Whether that of all accounts does, except these; otherwise that of these. */
  readonly byDefault: boolean
  readonly exceptions: readonly number[]
  /** Domains that lack some of it, of the accounts whose mail waits, or all. */
  readonly lacking: readonly { readonly id: number; readonly name: string }[]
}

/** Domains, and accounts with a setting of their own, that workers read. Mail of others is sent, or treated as the operator has set it. */
const MAX_READ = 10_000

export async function readRequirementHolds(sql: AnySql, usual: RequirementMode): Promise<RequirementHolds> {
  const byDefault = usual === 'hold'
  const accounts = await sql<{ id: number; parentId: number | null }[]>`
    select id, parent_id as "parentId" from accounts where requirements = ${byDefault ? 'warn' : 'hold'} and deleted_at is null
     order by id limit ${MAX_READ}`
  const exceptions = accounts.map(({ id }) => id)
  if (!byDefault && exceptions.length === 0) return { byDefault, exceptions, lacking: [] }
  // Subaccounts send from domains of their parents, too.
  const owners = [...new Set(accounts.flatMap(({ id, parentId }) => (parentId === null ? [id] : [id, parentId])))]
  const lacking = await (byDefault ? selectLacking(sql) : selectLackingOf(sql, owners))
  return { byDefault, exceptions, lacking }
}

type LackingDomain = RequirementHolds['lacking'][number]

function selectLacking(sql: AnySql): Promise<LackingDomain[]> {
  return sql<LackingDomain[]>`
    select d.id, d.name from domain_guards g join domains d on d.id = g.domain_id
     where g.lacks <> '{}' and d.deleted_at is null and d.state <> 'pending'
     order by g.domain_id limit ${MAX_READ}`
}

/** By owner, since a join would read the lacking domains of all accounts, in the order of their ids, until it has enough. */
function selectLackingOf(sql: AnySql, owners: readonly number[]): Promise<LackingDomain[]> {
  return sql<LackingDomain[]>`
    select found.id, found.name from unnest(${[...owners]}::int[]) as owner (id) cross join lateral (
      select d.id, d.name from domains d
       where d.account_id = owner.id and d.deleted_at is null and d.state <> 'pending'
         and (select g.lacks <> '{}' from domain_guards g where g.domain_id = d.id)
       order by d.name limit ${MAX_READ}) found
     limit ${MAX_READ}`
}

/** The demands on large senders that a domain lacks, by their names in reputation/guard/receivers.ts, and the time since which it has lacked some. */
export interface Lacking {
  readonly lacks: readonly string[]
  readonly since: Date | null
}

/** Returns what these domains lack, by their names. */
export async function lackingOf(sql: AnySql, names: readonly string[]): Promise<Map<string, Lacking>> {
  const rows = await sql<(Lacking & { name: string })[]>`
    select d.name, g.lacks, g.lacking_since as since from domains d join domain_guards g on g.domain_id = d.id
     where d.name = any(${[...names]}::text[]) and d.deleted_at is null and d.state <> 'pending' and g.lacks <> '{}'`
  return new Map(rows.map(({ name, lacks, since }) => [name, { lacks, since }]))
}
