import type { AnySql } from '../platform/database/database.ts'

type Fragment = ReturnType<AnySql>

/**
 * SQL expression: the reason why mail accepted from this domain is no longer sent, or null. Another account proved that
 * it owns the name, or the operator rejected the domain. Evaluated when a message is loaded and before end of data.
 *
 * Mail is accepted from active domains only, so a domain that is pending was lost. Deleting a domain does not change
 * its state: a domain deleted while active still signs its mail, and a lost one stays lost. A scalar subquery, since
 * `exists` may be planned as a scan of all domains.
 */
export function lossOf(sql: AnySql, id: Fragment): Fragment {
  return sql`(select 'domain-lost' from domains d where d.id = ${id} and d.state in ('pending', 'rejected'))`
}
