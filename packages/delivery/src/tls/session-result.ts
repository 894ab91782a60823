import { isListed, type TlsResult, type TlsSession } from '@postrider/core'
import type { Route } from '../mx.ts'
import type { SmtpConnection } from '../smtp/connection.ts'
import type { Endpoint } from '../smtp/endpoint.ts'
import { TlsRefused } from '../smtp/errors.ts'

type Policy = Extract<Route, { kind: 'hosts' }>['policy']

/** The result of a session as TLS reports count it (RFC 8460 4.3). */
export function sessionResult(connection: SmtpConnection, policy: Policy): TlsSession {
  const { endpoint, tls, isVerified, certificateProblem } = connection
  const of = { policyType: typeOf(endpoint, policy), mx: endpoint.host }
  if (tls === undefined) {
    const isOffered = connection.capabilities.has('STARTTLS')
    return { ...of, result: isOffered ? 'validation-failure' : 'starttls-not-supported' }
  }
  if (endpoint.dane?.kind === 'unusable') return { ...of, result: 'tlsa-invalid' }
  if (of.policyType !== 'sts') return { ...of, result: undefined }
  if (policy && !isListed(endpoint.host, policy.mx)) return { ...of, result: 'validation-failure' }
  return { ...of, result: isVerified ? undefined : certificateResult(certificateProblem ?? '') }
}

/** The result of a session that could not be opened; undefined if TLS was not the reason. */
export function refusedResult(endpoint: Endpoint, policy: Policy, error: unknown): TlsSession | undefined {
  if (!(error instanceof TlsRefused)) return undefined
  const of = { policyType: typeOf(endpoint, policy), mx: endpoint.host }
  if (endpoint.dane?.kind === 'failed') return { ...of, result: 'dnssec-invalid' }
  if (error.message.startsWith('DANE is required')) return { ...of, result: 'dane-required' }
  if (error.enhanced === '4.7.4') return { ...of, result: 'starttls-not-supported' }
  const problem = problemIn(error.message)
  return { ...of, result: problem === undefined ? 'validation-failure' : certificateResult(problem) }
}

/** The problem of a certificate in the message of secure.ts. */
function problemIn(message: string): string | undefined {
  const at = message.indexOf('certificate is not valid for ')
  return at === -1 ? undefined : message.slice(message.indexOf('(', at) + 1, -1)
}

function typeOf({ dane }: Endpoint, policy: Policy): TlsSession['policyType'] {
  return dane ? 'tlsa' : policy ? 'sts' : 'no-policy-found'
}

function certificateResult(problem: string): TlsResult {
  if (problem === 'CERT_HAS_EXPIRED') return 'certificate-expired'
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'certificate-host-mismatch'
  return problem.includes('TLSA') ? 'validation-failure' : 'certificate-not-trusted'
}
