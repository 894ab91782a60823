import { isListed, type TlsSession } from '@postrider/core'
import type { Endpoint } from '../common/endpoint.ts'
import { TlsRefused } from '../common/smtp-errors.ts'
import type { NextHop } from '../routing/mx.ts'
import type { SmtpConnection } from '../smtp/connection.ts'

type Policy = Extract<NextHop, { kind: 'hosts' }>['policy']

/** The result of a session as TLS reports count it (RFC 8460 4.3). */
export function sessionResult(connection: SmtpConnection, policy: Policy): TlsSession {
  const { endpoint, tls, certificateResult } = connection
  const of = { policyType: typeOf(endpoint, policy), mx: endpoint.host, receivingIp: endpoint.address }
  if (tls === undefined) {
    const isOffered = connection.capabilities.has('STARTTLS')
    return { ...of, result: isOffered ? 'validation-failure' : 'starttls-not-supported' }
  }
  if (endpoint.dane?.kind === 'unusable') return { ...of, result: 'tlsa-invalid' }
  if (of.policyType !== 'sts') return { ...of, result: undefined }
  if (policy && !isListed(endpoint.host, policy.mx)) return { ...of, result: 'validation-failure' }
  return { ...of, result: certificateResult }
}

/** The result of a session that could not be opened; undefined if TLS was not the reason. */
export function refusedResult(endpoint: Endpoint, policy: Policy, error: unknown): TlsSession | undefined {
  if (!(error instanceof TlsRefused)) return undefined
  const { host, address } = endpoint
  return { policyType: typeOf(endpoint, policy), mx: host, receivingIp: address, result: error.result }
}

function typeOf({ dane }: Endpoint, policy: Policy): TlsSession['policyType'] {
  return dane ? 'tlsa' : policy ? 'sts' : 'no-policy-found'
}
