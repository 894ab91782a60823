import type { AnySql } from '../platform/database/database.ts'

type Fragment = ReturnType<AnySql>

/**
 * The reason why mail that was accepted from this domain is not sent any more, or null: another account proved that the name is
 * its own, or the operator rejected it. To be asked when a message is loaded and before the final dot.
 *
 * Mail is accepted from active domains only, so one that is pending was lost. Deleting a domain does not change its state: what was
 * active then still signs its mail, and a lost one does not come back by being deleted. A scalar subquery, since `exists` may
 * be planned as a scan of all domains.
 */
export function lossOf(sql: AnySql, id: Fragment): Fragment {
  return sql`(select 'domain-lost' from domains d where d.id = ${id} and d.state in ('pending', 'rejected'))`
}
