import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'

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
  /** As OpenSSL and Node name the problem. */
  | { readonly isValid: false; readonly problem: string }

/**
 * Judges the certificate of a session that has begun. `earlier`: the verdict on the session that was resumed, which is all that is known of
 * it: Node shows no certificate then, does not check the name, and repeats what OpenSSL found of the chain.
 */
export function judgeCertificate(tls: TLSSocket, host: string, earlier: Verdict | undefined): Verdict {
  if (tls.isSessionReused()) {
    if (!earlier?.isValid) return invalid('the session was not verified when it began')
    return earlier.until > Date.now() ? earlier : invalid('CERT_HAS_EXPIRED')
  }
  if (!tls.authorized) return invalid(String(tls.authorizationError ?? 'not trusted'))
  const certificate = tls.getPeerX509Certificate()
  if (!certificate || !isNamed(certificate, host)) return invalid('ERR_TLS_CERT_ALTNAME_INVALID')
  return { isValid: true, until: certificate.validToDate.getTime() }
}

/** Whether a certificate is for a host, or an IP address. */
export function isNamed(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host, CHECK) : certificate.checkIP(host)) !== undefined
}

function invalid(problem: string): Verdict {
  return { isValid: false, problem }
}
