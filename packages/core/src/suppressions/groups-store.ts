import type { AnySql } from '../platform/database/database.ts'
import { type CountedGroup, isGroupId, type UnsubscribeGroup } from './group.ts'
import { COUNTED } from './suppression.ts'

const columns = (sql: AnySql) => sql`g.id, g.name, g.description, g.is_default as "isDefault"`

export interface GroupRow extends Omit<UnsubscribeGroup, 'id'> {
  readonly accountId: number
  /** The next number if null. */
  readonly id: number | null
}

export async function insertGroup(
  sql: AnySql,
  { accountId, id, name, description, isDefault }: GroupRow,
): Promise<UnsubscribeGroup | undefined> {
  const [made] = await sql<UnsubscribeGroup[]>`
    insert into unsubscribe_groups as g (account_id, id, name, description, is_default)
    values (${accountId},
            coalesce(${id}::int, (select coalesce(max(id), 0) + 1 from unsubscribe_groups where account_id = ${accountId})),
            ${name}, ${description}, ${isDefault})
    returning ${columns(sql)}`
  return made
}

export async function updateGroup(
  sql: AnySql,
  { accountId, id, name, description, isDefault }: UnsubscribeGroup & { readonly accountId: number },
): Promise<UnsubscribeGroup | undefined> {
  const [after] = await sql<UnsubscribeGroup[]>`
    update unsubscribe_groups g set name = ${name}, description = ${description}, is_default = ${isDefault}
     where account_id = ${accountId} and id = ${id} returning ${columns(sql)}`
  return after
}

export async function markGroupDeleted(sql: AnySql, accountId: number, id: number): Promise<void> {
  await sql`
    update unsubscribe_groups set deleted_at = service_now(), is_default = false
     where account_id = ${accountId} and id = ${id}`
}

export async function clearDefaultGroup(sql: AnySql, accountId: number): Promise<void> {
  await sql`update unsubscribe_groups set is_default = false where account_id = ${accountId} and is_default`
}

export async function countGroups(sql: AnySql, accountId: number): Promise<number> {
  const [existing] = await sql<{ count: number }[]>`
    select count(*)::int as count from unsubscribe_groups where account_id = ${accountId} and deleted_at is null`
  return existing?.count ?? 0
}

export function selectGroups(sql: AnySql, accountId: number, ids?: readonly number[]): Promise<CountedGroup[]> {
  return sql<CountedGroup[]>`
    select ${columns(sql)},
           (select count(*)::int from (
             select from suppressions s
              where s.account_id = g.account_id and s.group_id = g.id and s.group_id > 0 limit ${COUNTED}) unsubscribed
           ) as unsubscribes
      from unsubscribe_groups g
     where g.account_id = ${accountId} and g.deleted_at is null ${ids ? sql`and g.id = any(${inRange(ids)}::int[])` : sql``}
     order by g.id`
}

export async function selectKnownGroups(sql: AnySql, accountId: number, ids: readonly number[]): Promise<Set<number>> {
  const rows = await sql<{ id: number }[]>`
    select id from unsubscribe_groups
     where account_id = ${accountId} and id = any(${inRange(ids)}::int[]) and deleted_at is null`
  return new Set(rows.map(({ id }) => id))
}

function inRange(ids: readonly number[]): number[] {
  return ids.filter(isGroupId)
}
