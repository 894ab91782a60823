import { isAtLeast, type TlsLevel, type TlsResult } from '@postrider/core'
import { type Endpoint, hostLabel } from '../common/endpoint.ts'
import { TlsRefused } from '../common/smtp-errors.ts'
import { daneText } from './secure-mx.ts'

/**
 * Returns the level of a connection to a host: that of the delivery, or the one that the TLSA records of the host demand if it is stronger
 * (RFC 7672 2.2). A host for which the records could not be looked up is not used: an attacker may have suppressed them.
 *
 * Throws {@link TlsRefused} if the host is not to be used.
 */
export function levelAt(endpoint: Endpoint, demanded: TlsLevel = 'opportunistic'): TlsLevel {
  const { dane } = endpoint
  if (dane?.kind === 'usable') return 'dane'
  const refused = (result: TlsResult, text: string) => new TlsRefused({ stage: 'tls', enhanced: '4.7.5', result }, text)
  if (dane?.kind === 'failed') throw refused('dnssec-invalid', `TLS cannot be authenticated: ${dane.problem}`)
  if (demanded === 'dane') {
    const lack = dane ? 'no usable TLSA record' : 'no TLSA record that DNSSEC protects'
    const result = dane ? 'tlsa-invalid' : 'dane-required'
    throw refused(result, `DANE is required, but host ${hostLabel(endpoint)} has ${lack}`)
  }
  return dane && !isAtLeast(demanded, 'required') ? 'required' : demanded
}

/** Whether a session with a host was opened under the same demands as a new one would be. */
export function isSamePolicy(opened: Endpoint, now: Pick<Endpoint, 'dane'>): boolean {
  return daneText(opened.dane) === daneText(now.dane)
}
