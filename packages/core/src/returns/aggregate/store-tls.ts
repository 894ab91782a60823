import { onlyRow, type SqlTransaction } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'
import type { HeldDomain } from './holders.ts'
import type { TlsPolicyReading, TlsReading } from './read/report-reading.ts'
import type { Recorded } from './store-dmarc.ts'

/** The part of a report that is about one domain. */
export interface TlsPart extends Pick<TlsReading, 'organization' | 'reportId' | 'begin' | 'end'> {
  /** Undefined for a host of the service itself. */
  readonly domain: HeldDomain | undefined
  readonly policyDomain: string
  readonly reporter: string
  readonly isAuthenticated: boolean
  readonly policies: readonly TlsPolicyReading[]
}

/** Rows of a report that are stored. */
const MAX_ROWS = 1000
const MAX_UNAUTHENTICATED_ROWS = 100
/** Rows about a domain within a day, each report counting as one more. */
const MAX_A_DAY = { authenticated: 50_000, reporter: 10_000, unauthenticated: 2000 } as const

/** Stores a part once, with its sums and largest failures. */
export async function insertTlsPart(sql: SqlTransaction, part: TlsPart): Promise<Recorded> {
  const { domain, policyDomain, organization, reportId, begin, end, reporter, isAuthenticated, policies } = part
  if (await isFull(sql, part)) return 'report-limit'
  const rows = rowsOf(policies).slice(0, isAuthenticated ? MAX_ROWS : MAX_UNAUTHENTICATED_ROWS)
  const [successful, failed] = [sumOf(policies, 'successful'), sumOf(policies, 'failed')]
  const [report] = await sql<{ id: string }[]>`
    insert into tls_reports (domain_id, account_id, policy_domain, organization, report_id, begin_at, end_at, reporter, authenticated,
                             rows, successful, failed)
    values (${domain?.id ?? null}, ${domain?.accountId ?? null}, ${policyDomain}, ${organization}, ${reportId}, to_timestamp(${begin}),
            to_timestamp(${end}), ${reporter}, ${isAuthenticated}, ${rows.length}, ${successful}, ${failed})
    on conflict do nothing returning id`
  if (!report) return 'repeated'
  await sql`
    insert into tls_report_rows (report, no, policy_type, result_type, receiving_mx, successful, failed)
    select ${report.id}::uuid, r.no, r.policy_type, r.result_type, r.receiving_mx, r.successful, r.failed
      from json_to_recordset(${storableJson(rows.map((row, no) => ({ no, ...row })))}::text::json)
           as r(no int, policy_type text, result_type text, receiving_mx text, successful bigint, failed bigint)`
  return 'recorded'
}

function sumOf(policies: readonly TlsPolicyReading[], count: 'successful' | 'failed'): number {
  return policies.reduce((sum, policy) => sum + policy[count], 0)
}

/** The sums of the policies first, then the failures, the largest first. */
function rowsOf(policies: readonly TlsPolicyReading[]) {
  const sums = policies.map(({ type, successful, failed }) => {
    return { policy_type: type, result_type: null, receiving_mx: null, successful, failed }
  })
  const failures = policies.flatMap(({ type, failures }) =>
    failures.map(({ resultType, receivingMx, failed }) => {
      return { policy_type: type, result_type: resultType, receiving_mx: receivingMx, successful: 0, failed }
    }),
  )
  return [...sums, ...failures.sort((a, b) => b.failed - a.failed)]
}

async function isFull(sql: SqlTransaction, { policyDomain, reporter, isAuthenticated }: TlsPart): Promise<boolean> {
  const stored = onlyRow(
    await sql<{ domain: number; reporter: number }[]>`
      select coalesce(sum(rows + 1), 0)::float8 as domain, coalesce(sum(rows + 1) filter (where reporter = ${reporter}), 0)::float8 as reporter
        from tls_reports
       where policy_domain = ${policyDomain} and authenticated = ${isAuthenticated} and received_at > service_now() - interval '1 day'`,
  )
  if (!isAuthenticated) return stored.domain >= MAX_A_DAY.unauthenticated
  return stored.domain >= MAX_A_DAY.authenticated || stored.reporter >= MAX_A_DAY.reporter
}
