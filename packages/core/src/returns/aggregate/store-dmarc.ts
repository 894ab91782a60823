import { onlyRow, type SqlTransaction } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'
import type { HeldDomain } from './holders.ts'
import type { DmarcReading } from './read/report-reading.ts'
import { type OwnedGroup, sumRows } from './sum-rows.ts'

/** The part of a report that is about one sending domain. */
export interface DmarcPart extends Pick<DmarcReading, 'organization' | 'reportId' | 'begin' | 'end' | 'policy'> {
  readonly domain: HeldDomain
  readonly policyDomain: string
  readonly reporter: string
  readonly isAuthenticated: boolean
  readonly groups: readonly OwnedGroup[]
}

export type Recorded = 'recorded' | 'repeated' | 'report-limit'

/** Rows of a report that are stored, the last of which has the rest. */
const MAX_ROWS = 1000
/** Anybody can send those without a valid signature. */
const MAX_UNAUTHENTICATED_ROWS = 100
/** Rows within a day, each report counting as one more: of a domain, and of one reporter about it. */
const MAX_A_DAY = { domain: 100_000, reporter: 10_000, unauthenticated: 2000 } as const

/** Stores a part once, with its sums and largest rows. */
export async function insertDmarcPart(sql: SqlTransaction, part: DmarcPart): Promise<Recorded> {
  const { domain, policyDomain, organization, reportId, begin, end, policy, reporter, isAuthenticated, groups } = part
  if (await isFull(sql, part)) return 'report-limit'
  const rows = sumRows(groups, isAuthenticated ? MAX_ROWS : MAX_UNAUTHENTICATED_ROWS)
  const sum = (fits: (group: OwnedGroup) => boolean): number =>
    groups.reduce((total, group) => total + (fits(group) ? group.count : 0), 0)
  const isAligned = ({ dkim, spf }: OwnedGroup): boolean => dkim || spf
  const [report] = await sql<{ id: string }[]>`
    insert into dmarc_reports (domain_id, account_id, policy_domain, organization, report_id, begin_at, end_at, policy, reporter,
                               authenticated, rows, messages, aligned, ours, ours_aligned)
    values (${domain.id}, ${domain.accountId}, ${policyDomain}, ${organization}, ${reportId}, to_timestamp(${begin}), to_timestamp(${end}),
            ${storableJson(policy)}::text::jsonb, ${reporter}, ${isAuthenticated}, ${rows.length}, ${sum(() => true)}, ${sum(isAligned)},
            ${sum(({ ours }) => ours)}, ${sum((group) => group.ours && isAligned(group))})
    on conflict do nothing returning id`
  if (!report) return 'repeated'
  await sql`
    insert into dmarc_rows (report, no, count, source_ip, disposition, dkim, spf, header_from, ours)
    select ${report.id}::uuid, r.no, r.count, r.source_ip, r.disposition, r.dkim, r.spf, r.header_from, r.ours
      from json_to_recordset(${storableJson(rows)}::text::json)
           as r(no int, count bigint, source_ip inet, disposition text, dkim boolean, spf boolean, header_from text, ours boolean)`
  return 'recorded'
}

async function isFull(sql: SqlTransaction, { domain, reporter, isAuthenticated }: DmarcPart): Promise<boolean> {
  const stored = onlyRow(
    await sql<{ domain: number; reporter: number }[]>`
      select coalesce(sum(rows + 1), 0)::float8 as domain, coalesce(sum(rows + 1) filter (where reporter = ${reporter}), 0)::float8 as reporter
        from dmarc_reports
       where domain_id = ${domain.id} and authenticated = ${isAuthenticated} and received_at > service_now() - interval '1 day'`,
  )
  if (!isAuthenticated) return stored.domain >= MAX_A_DAY.unauthenticated
  return stored.domain >= MAX_A_DAY.domain || stored.reporter >= MAX_A_DAY.reporter
}
