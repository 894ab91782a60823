import type { AnySql } from '../../platform/database/database.ts'
import { createHostAddresses } from '../../platform/net/host-addresses.ts'
import type { ReturnResult } from '../return-result.ts'
import type { OwnMailConfig } from './own-mail.ts'
import { createReportReader } from './report-reader.ts'
import { type DmarcListed, type DmarcQuestion, type DmarcSummary, listDmarc, showDmarc } from './show-dmarc.ts'
import { listTls, showTls, type TlsListed, type TlsSummary } from './show-tls.ts'
import { type ReportDependencies, type TakenReport, takeReport } from './take-report.ts'

export type { DmarcAdvice } from './advice.ts'
export {
  type AlignedCount,
  type DmarcListed,
  type DmarcReporter,
  type DmarcSummary,
  type OtherSource,
  REPORTED_DAYS,
} from './show-dmarc.ts'
export type { TlsFailures, TlsListed, TlsSummary } from './show-tls.ts'

/** Reports that receivers of mail, and senders of mail to this service, send every day: DMARC and TLS. */
export interface AggregateReports {
  /** See take-report.ts. */
  take(taken: TakenReport): Promise<ReturnResult>
  /** Returns what receivers reported about a sending domain; undefined if it does not exist. Throws domainInvalid. */
  showDmarc(question: Omit<DmarcQuestion, 'now'>): Promise<DmarcSummary | undefined>
  /** Returns the domains with DMARC reports of the last 14 days, by name, after a name. */
  listDmarc(page: { readonly after: string; readonly limit: number }): Promise<DmarcListed[]>
  /** Returns what senders reported about TLS of a domain (A-labels); undefined without reports. */
  showTls(domain: string, days: number): Promise<TlsSummary | undefined>
  /** Returns the domains with TLS reports, those with the most failed sessions first; at most 100. */
  listTls(days: number): Promise<TlsListed[]>
  /** Deletes some that are older than REPORT_DAYS, or of deleted accounts. Returns their number. */
  forgetOld(): Promise<number>
  close(): Promise<void>
}

export interface AggregateReportsOptions extends Omit<ReportDependencies, 'reader' | 'hostAddresses' | 'config'> {
  readonly config: OwnMailConfig & { readonly reportDays: number }
}

export function createAggregateReports(options: AggregateReportsOptions): AggregateReports {
  const { sql, config, now } = options
  const reader = createReportReader()
  const dependencies: ReportDependencies = { ...options, reader, hostAddresses: createHostAddresses(config, now) }
  return {
    take: (taken) => takeReport(dependencies, taken),
    showDmarc: (question) => showDmarc(sql, { ...question, now: now() }),
    listDmarc: (page) => listDmarc(sql, { ...page, now: now() }),
    showTls: (domain, days) => showTls(sql, domain, days),
    listTls: (days) => listTls(sql, days),
    forgetOld: async () =>
      (await deleteOld(sql, sql`dmarc_reports`, config.reportDays)) +
      (await deleteOld(sql, sql`tls_reports`, config.reportDays)),
    close: () => reader.close(),
  }
}

/** With their rows, up to a thousand each. */
async function deleteOld(sql: AnySql, table: ReturnType<AnySql>, days: number): Promise<number> {
  const { count } = await sql`
    delete from ${table} where id in (
      (select id from ${table} where received_at < service_now() - make_interval(days => ${days}) order by received_at limit 100)
      union all
      (select r.id from accounts a cross join lateral (select id from ${table} where account_id = a.id limit 100) r
        where a.state = 'deleted' limit 100))`
  return count
}
