import { isIP } from 'node:net'

/** All sessions of a domain on one day under one policy. */
export interface CountedPolicy {
  readonly policyType: string
  readonly successful: number
  readonly failed: number
}

/** Failed sessions of the same kind; empty where a host or address is unknown. */
export interface CountedFailures {
  readonly policyType: string
  readonly result: string
  readonly mx: string
  readonly sendingIp: string
  readonly receivingIp: string
  readonly sessions: number
}

export interface TlsReportOptions {
  /** Of the report, such as 2026-11-23. */
  readonly day: string
  readonly policyDomain: string
  /** The domain of this service. */
  readonly submitter: string
  readonly policies: readonly CountedPolicy[]
  /** Not necessarily all. */
  readonly failures: readonly CountedFailures[]
  /** From which hosts see mail without sources. */
  readonly ownAddresses: readonly string[]
}

/** A report without its figures. */
export type TlsReportName = Pick<TlsReportOptions, 'day' | 'policyDomain' | 'submitter'>

/** The id of a report. It is the same at each try, so that a receiver counts it once. */
export function reportIdOf({ day, policyDomain, submitter }: TlsReportName): string {
  return `${day}.${policyDomain}@${submitter}`
}

/** Returns the report of a day (RFC 8460 4). It has no addresses of recipients. */
export function buildTlsReport(options: TlsReportOptions): object {
  const { day, policyDomain, submitter, policies, failures } = options
  return {
    'organization-name': submitter,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': `noreply@${submitter}`,
    'report-id': reportIdOf(options),
    policies: policies.map(({ policyType, successful, failed }) => ({
      policy: { 'policy-type': policyType, 'policy-string': [], 'policy-domain': policyDomain },
      summary: { 'total-successful-session-count': successful, 'total-failure-session-count': failed },
      'failure-details': failures
        .filter((failure) => failure.policyType === policyType)
        .map((failure) => detailOf(failure, options)),
    })),
  }
}

function detailOf(failure: CountedFailures, { ownAddresses }: TlsReportOptions): object {
  const { result, mx, receivingIp, sessions } = failure
  const version = isIP(receivingIp)
  const sendingIp = failure.sendingIp || ownAddresses.find((address) => version === 0 || isIP(address) === version)
  return {
    'result-type': result,
    // Without it, some receivers refuse the report.
    ...(sendingIp === undefined ? {} : { 'sending-mta-ip': sendingIp }),
    'receiving-mx-hostname': mx,
    ...(receivingIp === '' ? {} : { 'receiving-ip': receivingIp }),
    'failed-session-count': sessions,
  }
}

/** The name of the file (RFC 8460 5.1). */
export function fileNameOf({ day, policyDomain, submitter }: TlsReportName): string {
  const begin = Date.parse(`${day}T00:00:00Z`) / 1000
  return `${submitter}!${policyDomain}!${begin}!${begin + 86_399}.json.gz`
}
