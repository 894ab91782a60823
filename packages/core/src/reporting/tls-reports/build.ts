/** The sessions of a domain on one day with one result. */
export interface CountedSessions {
  readonly policyType: string
  /** Empty for success. */
  readonly result: string
  readonly mx: string
  readonly sessions: number
}

export interface TlsReportOptions {
  /** Of the report, such as 2026-11-23. */
  readonly day: string
  readonly policyDomain: string
  /** The domain of this service. */
  readonly submitter: string
  readonly counted: readonly CountedSessions[]
}

/** The id of a report. It is the same at each try, so that a receiver counts it once. */
export function reportIdOf({ day, policyDomain, submitter }: Omit<TlsReportOptions, 'counted'>): string {
  return `${day}.${policyDomain}@${submitter}`
}

/** Returns the report of a day (RFC 8460 4). It has no addresses of recipients. */
export function buildTlsReport(options: TlsReportOptions): object {
  const { day, policyDomain, submitter, counted } = options
  return {
    'organization-name': submitter,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': `noreply@${submitter}`,
    'report-id': reportIdOf(options),
    policies: [...Map.groupBy(counted, ({ policyType }) => policyType)].map(([type, rows]) => ({
      policy: { 'policy-type': type, 'policy-string': [], 'policy-domain': policyDomain },
      summary: {
        'total-successful-session-count': sumOf(rows.filter(({ result }) => result === '')),
        'total-failure-session-count': sumOf(rows.filter(({ result }) => result !== '')),
      },
      'failure-details': rows
        .filter(({ result }) => result !== '')
        .map(({ result, mx, sessions }) => ({
          'result-type': result,
          'receiving-mx-hostname': mx,
          'failed-session-count': sessions,
        })),
    })),
  }
}

function sumOf(rows: readonly CountedSessions[]): number {
  return rows.reduce((sum, { sessions }) => sum + sessions, 0)
}

/** The name of the file (RFC 8460 5.1). */
export function fileNameOf({ day, policyDomain, submitter }: Omit<TlsReportOptions, 'counted'>): string {
  const begin = Date.parse(`${day}T00:00:00Z`) / 1000
  return `${submitter}!${policyDomain}!${begin}!${begin + 86_399}.json.gz`
}
