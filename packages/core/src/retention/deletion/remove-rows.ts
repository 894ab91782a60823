import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { OwnRows } from './own-rows.ts'

/** Where a step goes on; undefined at its beginning. */
export type Position = readonly string[] | undefined

/** The result of a part of a step. */
export interface Part {
  readonly removed: number
  /** Where the step goes on; undefined if it is finished. */
  readonly next?: Position
  /** In place of `next`: seconds after which the part is tried again. */
  readonly wait?: number
}

const LIMIT = 1000

/** Removes some rows of an account from a table. */
export async function removeOwnRows(
  sql: AnySql,
  { table, key = [], limit = LIMIT, through }: OwnRows,
  { accountId, position }: { readonly accountId: number; readonly position: Position },
): Promise<Part> {
  const names = key.map(([column]) => column).join(', ')
  const isOwn = through
    ? sql`${sql(through[1])} = any(array(select id from ${sql(through[0])} where account_id = ${accountId}))`
    : sql`account_id = ${accountId}`
  // From the last row on, not after it: more rows may have the same values.
  const isLater = position
    ? sql`and (${sql.unsafe(names)}) >= (${listOf(
        sql,
        key.map(([, type], at) => castTo(sql, position[at] ?? '', type)),
      )})`
    : sql``
  const order = key.length > 0 ? sql`order by ${sql.unsafe(names)}` : sql``
  const last =
    key.length > 0
      ? sql`(select array[${sql.unsafe(key.map(([column]) => `${column}::text`).join(', '))}] from found
             order by ${sql.unsafe(key.map(([column]) => `${column} desc`).join(', '))} limit 1)`
      : sql`array[]::text[]`
  const { removed, full, at } = onlyRow(
    await sql<{ removed: number; full: boolean; at: string[] | null }[]>`
      with found as materialized (
        select ctid as place ${key.length > 0 ? sql`, ${sql.unsafe(names)}` : sql``} from ${sql(table)}
         where ${isOwn} ${isLater} ${order} limit ${limit}
      ), gone as (
        delete from ${sql(table)} where ctid = any(array(select place from found)) returning 1
      )
      select (select count(*)::int from gone) as removed, (select count(*) = ${limit} from found) as full, ${last} as at`,
  )
  // All of it once more after the last rows: some may have been changed, and so moved, while they were removed.
  return full && at ? { removed, next: at } : { removed }
}

function castTo(sql: AnySql, value: string, type: string): ReturnType<AnySql> {
  return sql`${value}::text::${sql.unsafe(type)}`
}

function listOf(sql: AnySql, parts: readonly ReturnType<AnySql>[]): ReturnType<AnySql> {
  return parts.reduce((all, part) => sql`${all}, ${part}`)
}

/** Whether rows of an account are left in a table. */
export async function hasOwnRows(sql: AnySql, table: string, accountId: number): Promise<boolean> {
  const rows = await sql`select from ${sql(table)} where account_id = ${accountId} limit 1`
  return rows.count > 0
}
