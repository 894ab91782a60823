import { malformed, REPORT_LIMITS, tooLarge } from './limits.ts'
import type { TlsFailure, TlsPolicyReading, TlsReading } from './report-reading.ts'
import { countIn, domainIn, emailDomainIn, plainText } from './report-text.ts'

const POLICY_TYPES = ['tlsa', 'sts', 'no-policy-found'] as const
const MAX_POLICIES = 100
/** Failures of a policy; the smallest beyond them are added up. */
const MAX_FAILURES = 1000

/** Reads a TLS report (RFC 8460 4). Throws UnreadableReport. */
export function readTls(octets: Buffer): TlsReading {
  if (octets.length > REPORT_LIMITS.unpackedJson) throw tooLarge('the unpacked report')
  const report = objectIn(parsed(octets))
  const range = objectIn(report['date-range'])
  const organization = textIn(report['organization-name'])
  const reportId = textIn(report['report-id'])
  const [begin, end] = [secondsIn(range['start-datetime']), secondsIn(range['end-datetime'])]
  const policies = listIn(report.policies)
  if (policies.length > MAX_POLICIES) throw tooLarge('the number of policies')
  if (organization === '' || reportId === '' || !(begin <= end))
    throw malformed('organization, id or dates are missing')
  let rows = 0
  const read = policies.map((policy): TlsPolicyReading => {
    const failures = listIn(objectIn(policy)['failure-details'])
    rows += failures.length
    if (rows > REPORT_LIMITS.rows) throw tooLarge('the number of failures')
    return policyIn(objectIn(policy), failures)
  })
  const emailDomain = emailDomainIn(textIn(report['contact-info']))
  return { kind: 'tls', organization, emailDomain, reportId, begin, end, policies: read }
}

function parsed(octets: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(octets))
  } catch {
    throw malformed('the report is not JSON in UTF-8')
  }
}

function policyIn(given: Readonly<Record<string, unknown>>, details: readonly unknown[]): TlsPolicyReading {
  const policy = objectIn(given.policy)
  const summary = objectIn(given.summary)
  const domain = domainIn(textIn(policy['policy-domain']))
  if (domain === undefined) throw malformed('a policy has no domain')
  return {
    type: POLICY_TYPES.find((one) => one === policy['policy-type']) ?? 'other',
    domain,
    successful: countIn(summary['total-successful-session-count'] ?? 0),
    failed: countIn(summary['total-failure-session-count'] ?? 0),
    failures: failuresIn(details),
  }
}

function failuresIn(details: readonly unknown[]): TlsFailure[] {
  const failures = new Map<string, TlsFailure>()
  for (const detail of details) {
    const given = objectIn(detail)
    const resultType = textIn(given['result-type']).toLowerCase().slice(0, 60) || 'other'
    const receivingMx = domainIn(textIn(given['receiving-mx-hostname'])) ?? ''
    const failed = countIn(given['failed-session-count'] ?? 0)
    add(failures, { resultType, receivingMx, failed })
  }
  const sorted = [...failures.values()].sort((a, b) => b.failed - a.failed)
  const rest = new Map<string, TlsFailure>()
  for (const { failed } of sorted.slice(MAX_FAILURES)) add(rest, { resultType: 'other', receivingMx: '', failed })
  return [...sorted.slice(0, MAX_FAILURES), ...rest.values()]
}

function add(failures: Map<string, TlsFailure>, failure: TlsFailure): void {
  const key = `${failure.resultType} ${failure.receivingMx}`
  const before = failures.get(key)?.failed ?? 0
  failures.set(key, { ...failure, failed: before + failure.failed })
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw malformed('not a TLS report')
}

/** A list; receivers leave out an empty one. */
function listIn(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw malformed('not a TLS report')
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? plainText(value) : ''
}

/** Years that the database does not have are none. */
function secondsIn(value: unknown): number {
  const seconds = typeof value === 'string' && value.length < 50 ? Math.floor(Date.parse(value) / 1000) : Number.NaN
  return seconds >= 0 && seconds < 1e10 ? seconds : Number.NaN
}
