import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { TlsResult } from '@postrider/core'

/** Only the names of the certificate's DNS-IDs count, and a wildcard only as the whole first label (RFC 8461 4.1). */
const CHECK = { subject: 'never', partialWildcards: false, multiLabelWildcards: false } as const

/** Whether the server's certificate is valid for its host. */
export type Verdict =
  /** `until`: milliseconds since 1970. */
  | {
      readonly isValid: true
      readonly until: number
      /** The TLSA record that it was accepted by. */
      readonly by?: string
    }
  | Invalid

interface Invalid {
  readonly isValid: false
  /** As OpenSSL and Node name it. */
  readonly problem: string
  /** Its type in TLS reports (RFC 8460 4.3). */
  readonly result: TlsResult
}

/**
 * Evaluates the certificate of a session that has begun. `earlier`: the verdict on the session that was resumed, which is all that is known of
 * it: Node shows no certificate then, does not check the name, and repeats what OpenSSL found of the chain.
 */
export function verifyCertificate(tls: TLSSocket, host: string, earlier: Verdict | undefined): Verdict {
  if (tls.isSessionReused()) {
    return resumed(earlier)
  }
  if (!tls.authorized) return untrusted(tls)
  const certificate = tls.getPeerX509Certificate()
  if (!certificate || !isNamed(certificate, host)) return WRONG_NAME
  return { isValid: true, until: certificate.validToDate.getTime() }
}

/** Whether a certificate is for a host, or an IP address. */
export function isNamed(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host, CHECK) : certificate.checkIP(host)) !== undefined
}

export const WRONG_NAME: Verdict = {
  isValid: false,
  problem: 'ERR_TLS_CERT_ALTNAME_INVALID',
  result: 'certificate-host-mismatch',
}

const EXPIRED = 'CERT_HAS_EXPIRED'

/** The verdict on a session that was resumed. */
export function resumed(earlier: Verdict | undefined): Verdict {
  if (!earlier?.isValid) {
    const result = earlier?.result ?? 'validation-failure'
    return { isValid: false, problem: 'the session was not verified when it began', result }
  }
  return earlier.until > Date.now() ? earlier : { isValid: false, problem: EXPIRED, result: 'certificate-expired' }
}

/** The verdict on a chain that OpenSSL does not trust. */
export function untrusted(tls: TLSSocket): Verdict {
  const problem = String(tls.authorizationError ?? 'not trusted')
  return { isValid: false, problem, result: problem === EXPIRED ? 'certificate-expired' : 'certificate-not-trusted' }
}
