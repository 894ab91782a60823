import type { AnySql } from '../../platform/database/database.ts'

/** Sessions of senders to a domain, as they reported them. Only authenticated reports count. */
export interface TlsListed {
  readonly domain: string
  /** Null for a host of the service itself. */
  readonly accountId: number | null
  readonly reports: number
  readonly successful: number
  readonly failed: number
}

/** Sessions that failed for the same reason at the same host. */
export interface TlsFailures {
  readonly policyType: string
  /** RFC 8460 4.3. */
  readonly resultType: string
  /** Empty if the report does not name it. */
  readonly receivingMx: string
  readonly reporters: number
  readonly failed: number
}

export interface TlsSummary extends TlsListed {
  readonly days: number
  /** Reports without a valid signature of their sender, which do not count. */
  readonly unauthenticated: number
  /** The largest first. */
  readonly failures: readonly TlsFailures[]
}

const MAX_LISTED = 100
/** Days that a report may be received before the end of its time. */
const EARLY_DAYS = 3

const withinDays = (sql: AnySql, days: number): ReturnType<AnySql> => sql`
  received_at > service_now() - make_interval(days => ${days + EARLY_DAYS}::int) and end_at > service_now() - make_interval(days => ${days}::int)`

/** Returns what senders reported about a domain; undefined if there is no report on it. */
export async function showTls(sql: AnySql, domain: string, days: number): Promise<TlsSummary | undefined> {
  const [[totals], failures] = await Promise.all([
    sql<Omit<TlsSummary, 'failures' | 'days' | 'domain'>[]>`
      select max(account_id) as "accountId", (count(*) filter (where authenticated))::int as reports,
             (count(*) filter (where not authenticated))::int as unauthenticated,
             coalesce(sum(successful) filter (where authenticated), 0)::float8 as successful,
             coalesce(sum(failed) filter (where authenticated), 0)::float8 as failed
        from tls_reports where policy_domain = ${domain} and ${withinDays(sql, days)} having count(*) > 0`,
    sql<TlsFailures[]>`
      select w.policy_type as "policyType", w.result_type as "resultType", w.receiving_mx as "receivingMx",
             count(distinct r.reporter)::int as reporters, sum(w.failed)::float8 as failed
        from tls_reports r join tls_report_rows w on w.report = r.id
       where r.policy_domain = ${domain} and r.authenticated and ${withinDays(sql, days)} and w.result_type is not null
       group by w.policy_type, w.result_type, w.receiving_mx
       order by sum(w.failed) desc, w.result_type, w.receiving_mx limit ${MAX_LISTED}`,
  ])
  return totals && { domain, days, ...totals, failures }
}

/** Returns the domains with authenticated reports, those with the most failed sessions first. */
export async function listTls(sql: AnySql, days: number): Promise<TlsListed[]> {
  return sql<TlsListed[]>`
    select policy_domain as domain, max(account_id) as "accountId", count(*)::int as reports, sum(successful)::float8 as successful,
           sum(failed)::float8 as failed
      from tls_reports where authenticated and ${withinDays(sql, days)}
     group by policy_domain order by sum(failed) desc, policy_domain limit ${MAX_LISTED}`
}
