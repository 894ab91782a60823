import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ServiceMail } from '../../messages/service-mail.ts'
import { parseAddress } from '../../mime/address.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { createHostAddresses, type HostAddressesConfig } from '../../platform/net/host-addresses.ts'
import { OutboundError, type OutboundHttp } from '../../platform/net/outbound-http.ts'
import {
  buildTlsReport,
  type CountedFailures,
  type CountedPolicy,
  reportIdOf,
  type TlsReportName,
  type TlsReportOptions,
} from './build.ts'
import { reportMail } from './mail.ts'

/** The result of one report. */
export interface SentReport {
  readonly policyDomain: string
  /** Why it could not be sent to one of its addresses. It is tried again for a day. */
  readonly problem: string | undefined
}

export interface TlsReports {
  /**
   * Sends one report that is due, to all of its addresses (RFC 8460 5). Returns undefined if none is due. Any number of processes may call it;
   * one at a time gets a report. If it is killed, the report is sent again with the same id, by which receivers count it once, and mail
   * with it is accepted once.
   */
  sendSome(): Promise<SentReport | undefined>
}

export interface TlsReportsDependencies {
  readonly sql: Sql
  readonly serviceMail: ServiceMail
  readonly http: OutboundHttp
  readonly config: Pick<Config, 'serviceDomain'> & HostAddressesConfig
  readonly now: () => number
}

/** Failures of a report that are listed; the totals are those of all. */
const MAX_FAILURES = 100
/** Tries, 15 minutes after each other and then twice as long: eight take 16 hours, and the keys of mail expire after 24. */
const MAX_TRIES = 7
const RETRY_MINUTES = 15

interface DueReport {
  readonly day: string
  readonly policyDomain: string
  readonly rua: readonly string[]
  readonly sent: readonly string[]
}

export function createTlsReports({ sql, serviceMail, http, config, now }: TlsReportsDependencies): TlsReports {
  const hostAddresses = createHostAddresses(config, now)
  const { serviceDomain: submitter } = config

  async function send(uri: string, gzipped: Buffer, report: TlsReportName): Promise<void> {
    if (uri.toLowerCase().startsWith('https:')) {
      const headers = { 'content-type': 'application/tlsrpt+gzip' }
      const { status } = await http.request({ url: uri, method: 'POST', headers, body: gzipped })
      if (status < 200 || status > 299) throw new OutboundError('answer', `response status ${status}`)
      return
    }
    const to = parseAddress(decoded(uri.slice('mailto:'.length)))?.text
    // Sending again would not change it.
    if (to === undefined) return
    await serviceMail.send({
      to,
      subject: `TLS report ${reportIdOf(report)}`,
      text: '',
      mime: reportMail({ to, gzipped }, report),
      key: `tls report ${reportIdOf(report)} ${to}`,
    })
  }

  return {
    async sendSome() {
      if (submitter === undefined) return undefined
      const due = await claimReport(sql)
      if (!due) return undefined
      const { day, policyDomain } = due
      const report = { day, policyDomain, submitter }
      const ownAddresses = await hostAddresses()
      const built = buildTlsReport({ ...report, ...(await readCounts(sql, due)), ownAddresses })
      const gzipped = await promisify(gzip)(JSON.stringify(built))
      let problem: string | undefined
      for (const uri of due.rua.filter((one) => !due.sent.includes(one))) {
        try {
          await send(uri, gzipped, report)
          await sql`
            update tls_report_days set sent = array_append(sent, ${uri}) where day = ${day}::date and policy_domain = ${policyDomain}`
        } catch (error) {
          if (!(error instanceof OutboundError || error instanceof ServiceError)) throw error
          problem = error.message
        }
      }
      await sql`
        update tls_report_days
           set problem = ${problem ?? null},
               due_at = case when ${problem ?? null}::text is null or tries >= ${MAX_TRIES}::int then null else due_at end
         where day = ${day}::date and policy_domain = ${policyDomain}`
      return { policyDomain, problem }
    },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Takes the report that is due first, and puts it off, so that no other worker sends it now. */
async function claimReport(sql: Sql): Promise<DueReport | undefined> {
  const [row] = await sql<DueReport[]>`
    update tls_report_days
       set tries = tries + 1, due_at = service_now() + make_interval(mins => ${RETRY_MINUTES}::int * power(2, tries)::int)
     where (day, policy_domain) in (select day, policy_domain from tls_report_days where due_at <= service_now()
                                     order by due_at limit 1 for update skip locked)
    returning day::text as day, policy_domain as "policyDomain", rua, sent`
  return row
}

/** Reads what a report says; exported for tests. */
export async function readCounts(
  sql: Sql,
  { day, policyDomain }: Pick<DueReport, 'day' | 'policyDomain'>,
): Promise<Pick<TlsReportOptions, 'policies' | 'failures'>> {
  const policies = await sql<CountedPolicy[]>`
    select policy_type as "policyType", coalesce(sum(sessions) filter (where result = ''), 0)::float8 as successful,
           coalesce(sum(sessions) filter (where result <> ''), 0)::float8 as failed
      from tls_results where day = ${day}::date and policy_domain = ${policyDomain}
     group by policy_type order by policy_type`
  // The addresses of what an older version has counted are not known.
  const failures = await sql<CountedFailures[]>`
    with known as (
      select * from tls_failures where day = ${day}::date and policy_domain = ${policyDomain}
    ), unknown as (
      select r.policy_type, r.result, r.mx, '' as sending_ip, '' as receiving_ip,
             r.sessions - coalesce((select sum(k.sessions) from known k
                                     where (k.policy_type, k.result, k.mx) = (r.policy_type, r.result, r.mx)), 0) as sessions
        from tls_results r where r.day = ${day}::date and r.policy_domain = ${policyDomain} and r.result <> ''
    )
    select policy_type as "policyType", result, mx, sending_ip as "sendingIp", receiving_ip as "receivingIp", sessions::float8 as sessions
      from (select policy_type, result, mx, sending_ip, receiving_ip, sessions from known
            union all select * from unknown where sessions > 0) f
     order by sessions desc, policy_type, result, mx, sending_ip, receiving_ip limit ${MAX_FAILURES}::int`
  return { policies, failures }
}
