import type { PendingQuery, Row } from 'postgres'
import type { AnySql } from '../platform/database/database.ts'

/** A fragment of an SQL statement. */
export type Fragment = PendingQuery<Row[]>

/**
 * SQL condition: whether an entry applies to a message that bypasses the lists in `list` (text[] or null). Entries of
 * the operator always apply. `all` bypasses all entries of the account; a reason bypasses the account's entries with
 * that reason that apply to all mail. Evaluated only for matching entries, which are few.
 */
export function appliesDespiteBypass(
  sql: AnySql,
  list: Fragment,
  entry: { readonly account: Fragment; readonly group: Fragment; readonly reason: Fragment },
): Fragment {
  const { account, group, reason } = entry
  return sql`
    (${list} is null or ${account} = 0 or not (${list} && array['all', case when ${group} = 0 then ${reason} end]))`
}
