import type { PendingQuery, Row } from 'postgres'
import type { AnySql } from '../platform/database/database.ts'

/** A fragment of an SQL statement. */
export type Fragment = PendingQuery<Row[]>

/** Columns of an entry, and conditions on them. */
export interface BypassedEntry {
  readonly account: Fragment
  readonly group: Fragment
  readonly reason: Fragment
  /** Whether it is a complaint of a recipient who is unsubscribed, too. */
  readonly unsubscribed: Fragment
  /** Whether it is an unsubscribe of a recipient whom the sender had listed, too. */
  readonly manual: Fragment
}

/**
 * SQL condition: whether an entry applies to a message that bypasses the lists in `list` (text[] or null). Entries of
 * the operator always apply. `all` bypasses all entries of the account; a reason bypasses the account's entries with
 * that reason that apply to all mail, and have no other reason that is not bypassed. Evaluated only for matching entries, which are few.
 */
export function appliesDespiteBypass(sql: AnySql, list: Fragment, entry: BypassedEntry): Fragment {
  const { account, group, reason, unsubscribed, manual } = entry
  const isAlone = sql`not ${manual} and (not ${unsubscribed} or 'unsubscribe' = any(${list}))`
  return sql`
    (${list} is null or ${account} = 0 or not (${list} && array['all', case when ${group} = 0 and ${isAlone} then ${reason} end]))`
}
