import type { PendingQuery, Row } from 'postgres'
import type { AnySql } from '../platform/database/database.ts'

/** A piece of a statement. */
export type Fragment = PendingQuery<Row[]>

/**
 * Whether an entry holds a message that bypasses these lists (`list`: text[] or null): the operator's entries always do, `all` lets
 * the account's go, and a reason those of it that hold all mail. Asked of entries that were found only, which are few.
 */
export function holdsDespite(
  sql: AnySql,
  list: Fragment,
  entry: { readonly account: Fragment; readonly group: Fragment; readonly reason: Fragment },
): Fragment {
  const { account, group, reason } = entry
  return sql`
    (${list} is null or ${account} = 0 or not (${list} && array['all', case when ${group} = 0 then ${reason} end]))`
}
