import { domainName } from '../../domains/own-domain.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { ADVICE_DAYS, adviseOn, type DmarcAdvice } from './advice.ts'
import type { PublishedPolicy } from './read/report-reading.ts'

/** Counts of messages in reports. */
export interface AlignedCount {
  readonly messages: number
  /** Whose DKIM signature or SPF is valid and of the domain in From. */
  readonly aligned: number
}

export interface DmarcReporter {
  /** The domain whose signature the reports have. */
  readonly reporter: string
  /** How it calls itself. */
  readonly organization: string
  readonly reports: number
  readonly messages: number
  readonly ours: AlignedCount
}

/** An address that sends mail with a domain, and is not of this service. */
export interface OtherSource extends AlignedCount {
  /** Null for the rest of large reports, which is not known by address. */
  readonly address: string | null
  /** A domain in From of its mail. */
  readonly headerFrom: string | null
}

/** A report without a valid signature of its sender, which anybody can send. */
export interface UnauthenticatedReport {
  /** The name and the id that the report gives, and the domain of its sender. */
  readonly organization: string
  readonly reportId: string
  readonly reporter: string
  readonly beginAt: Date
  readonly endAt: Date
  readonly receivedAt: Date
  readonly messages: number
  /** Messages that it says came from this service. */
  readonly ours: number
}

/** The reports of receivers about a sending domain. Only authenticated reports count. */
export interface DmarcSummary {
  readonly domain: string
  readonly accountId: number
  readonly days: number
  readonly reports: number
  /** Reports without a valid signature of their sender, which do not count. */
  readonly unauthenticated: number
  /** The latest of them, at most 100. */
  readonly unauthenticatedReports: readonly UnauthenticatedReport[]
  /** The policy in the latest report; null without reports. */
  readonly policy: PublishedPolicy | null
  readonly ours: AlignedCount
  readonly others: AlignedCount
  /** The largest first. */
  readonly reporters: readonly DmarcReporter[]
  readonly otherSources: readonly OtherSource[]
  readonly advice: DmarcAdvice
}

/** Days that are summed up by default, and at most. */
export const REPORTED_DAYS = { usual: ADVICE_DAYS, most: 90 } as const
/** Rows of each list in an answer. */
const MAX_LISTED = 100
/** Days that a report may be received before the end of its time, as clocks differ. */
const EARLY_DAYS = 3

export interface DmarcQuestion {
  readonly name: string
  /** The account that must have the domain; undefined: the one that does. */
  readonly accountId?: number | undefined
  readonly days: number
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Returns undefined if there is no such domain. Throws domainInvalid. */
export async function showDmarc(
  sql: AnySql,
  { name, accountId, days, now }: DmarcQuestion,
): Promise<DmarcSummary | undefined> {
  const [domain] = await sql<{ id: number; name: string; accountId: number }[]>`
    select id, name, account_id as "accountId" from domains
     where name = ${domainName(name)} and deleted_at is null
       and ${accountId === undefined ? sql`state <> 'pending'` : sql`account_id = ${accountId}`}`
  if (!domain) return undefined
  const window = { domainId: domain.id, days }
  const [totals, lately, policy, reporters, otherSources, unauthenticatedReports] = await Promise.all([
    selectTotals(sql, window),
    selectTotals(sql, { ...window, days: ADVICE_DAYS }),
    selectPolicy(sql, window),
    selectReporters(sql, window),
    selectOtherSources(sql, window),
    selectUnauthenticated(sql, window),
  ])
  const { ours, oursAligned, messages, aligned, reports, unauthenticated } = totals
  return {
    domain: domain.name,
    accountId: domain.accountId,
    days,
    reports,
    unauthenticated,
    policy,
    ours: { messages: ours, aligned: oursAligned },
    others: { messages: messages - ours, aligned: aligned - oursAligned },
    reporters: reporters.map(({ ours, oursAligned, ...one }) => ({
      ...one,
      ours: { messages: ours, aligned: oursAligned },
    })),
    otherSources,
    unauthenticatedReports,
    advice: adviseOn({ ...lately, policy: policy?.p }, now),
  }
}

interface Window {
  readonly domainId: number
  readonly days: number
}

interface Totals {
  readonly reports: number
  readonly unauthenticated: number
  readonly messages: number
  readonly aligned: number
  readonly ours: number
  readonly oursAligned: number
  readonly since: Date | null
}

/** The reports whose time ended within these days. */
function reportsOf(sql: AnySql, { domainId, days }: Window): ReturnType<AnySql> {
  return sql`
    dmarc_reports r
     where r.domain_id = ${domainId} and r.received_at > service_now() - make_interval(days => ${days + EARLY_DAYS}::int)
       and r.end_at > service_now() - make_interval(days => ${days}::int)`
}

async function selectTotals(sql: AnySql, window: Window): Promise<Totals> {
  return onlyRow(
    await sql<Totals[]>`
      select (count(*) filter (where authenticated))::int as reports, (count(*) filter (where not authenticated))::int as unauthenticated,
             coalesce(sum(messages) filter (where authenticated), 0)::float8 as messages,
             coalesce(sum(aligned) filter (where authenticated), 0)::float8 as aligned,
             coalesce(sum(ours) filter (where authenticated), 0)::float8 as ours,
             coalesce(sum(ours_aligned) filter (where authenticated), 0)::float8 as "oursAligned",
             min(begin_at) filter (where authenticated) as since
        from ${reportsOf(sql, window)}`,
  )
}

async function selectPolicy(sql: AnySql, window: Window): Promise<PublishedPolicy | null> {
  const [row] = await sql<{ policy: PublishedPolicy }[]>`
    select policy from ${reportsOf(sql, window)} and authenticated order by end_at desc, id desc limit 1`
  return row?.policy ?? null
}

interface ReporterRow extends Omit<DmarcReporter, 'ours'> {
  readonly ours: number
  readonly oursAligned: number
}

async function selectReporters(sql: AnySql, window: Window): Promise<ReporterRow[]> {
  return sql<ReporterRow[]>`
    select reporter, max(organization) as organization, count(*)::int as reports, sum(messages)::float8 as messages, sum(ours)::float8 as ours,
           sum(ours_aligned)::float8 as "oursAligned"
      from ${reportsOf(sql, window)} and authenticated
     group by reporter order by messages desc, reporter limit ${MAX_LISTED}`
}

async function selectOtherSources(sql: AnySql, window: Window): Promise<OtherSource[]> {
  return sql<OtherSource[]>`
    select host(w.source_ip) as address, sum(w.count)::float8 as messages,
           coalesce(sum(w.count) filter (where w.dkim or w.spf), 0)::float8 as aligned, max(w.header_from) as "headerFrom"
      from dmarc_rows w
     where w.report in (select r.id from ${reportsOf(sql, window)} and r.authenticated) and w.ours is not true
     group by w.source_ip order by messages desc, address limit ${MAX_LISTED}`
}

async function selectUnauthenticated(sql: AnySql, window: Window): Promise<UnauthenticatedReport[]> {
  return sql<UnauthenticatedReport[]>`
    select organization, report_id as "reportId", reporter, begin_at as "beginAt", end_at as "endAt", received_at as "receivedAt",
           messages::float8 as messages, ours::float8 as ours
      from ${reportsOf(sql, window)} and not authenticated order by received_at desc, id desc limit ${MAX_LISTED}`
}

/** A domain with reports. */
export interface DmarcListed {
  readonly domain: string
  readonly accountId: number
  readonly reports: number
  readonly ours: AlignedCount
  readonly others: AlignedCount
  readonly advice: DmarcAdvice
}

/** Returns the domains with authenticated reports of the last 14 days, by name, after a name. */
export async function listDmarc(
  sql: AnySql,
  { after, limit, now }: { readonly after: string; readonly limit: number; readonly now: number },
): Promise<DmarcListed[]> {
  const rows = await sql<(Totals & { domain: string; accountId: number; policy: string | null })[]>`
    select d.name as domain, d.account_id as "accountId", t.reports, t.messages, t.aligned, t.ours, t."oursAligned", t.since, t.policy
      from domains d
      cross join lateral (
        select count(*)::int as reports, sum(messages)::float8 as messages, sum(aligned)::float8 as aligned, sum(ours)::float8 as ours,
               sum(ours_aligned)::float8 as "oursAligned", min(begin_at) as since,
               (array_agg(policy ->> 'p' order by end_at desc, id desc))[1] as policy
          from dmarc_reports
         where domain_id = d.id and authenticated
           and received_at > service_now() - make_interval(days => ${ADVICE_DAYS + EARLY_DAYS}::int)
           and end_at > service_now() - make_interval(days => ${ADVICE_DAYS}::int)) t
     where d.name > ${after} and d.deleted_at is null and d.state <> 'pending' and t.reports > 0
     order by d.name limit ${limit}`
  return rows.map(({ domain, accountId, policy, ...totals }) => ({
    domain,
    accountId,
    reports: totals.reports,
    ours: { messages: totals.ours, aligned: totals.oursAligned },
    others: { messages: totals.messages - totals.ours, aligned: totals.aligned - totals.oursAligned },
    advice: adviseOn({ ...totals, policy: policy ?? undefined }, now),
  }))
}
