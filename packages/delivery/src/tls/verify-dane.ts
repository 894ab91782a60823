import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { type HostDane, matches, type TlsaRecord } from '@postrider/core'
import { AuthorityFound } from '../common/smtp-errors.ts'
import { isNamed, resumed, untrusted, type Verdict, WRONG_NAME } from './verify.ts'

export type UsableDane = Extract<HostDane, { kind: 'usable' }>

/** Certificates of a chain that are compared with the records. */
const MAX_CHAIN = 10
/** Milliseconds for which a session may be resumed whose certificate has no end that counts. */
const RESUMED_FOR = 86_400_000

/**
 * Evaluates the certificate of a session by the TLSA records of the host (RFC 7672 3). DANE-EE: the certificate itself; its names and dates do
 * not count. DANE-TA: OpenSSL has verified it with only `authorities` trusted, and it is valid for one of the names.
 *
 * Throws {@link AuthorityFound} if the chain has an authority of the records that was not trusted yet.
 */
export function verifyByDane(
  tls: TLSSocket,
  { records, names }: UsableDane,
  { earlier, authorities }: { readonly earlier: Verdict | undefined; readonly authorities: readonly string[] },
): Verdict {
  if (tls.isSessionReused()) return resumed(earlier)
  const certificate = tls.getPeerX509Certificate()
  if (!certificate) return failure('no certificate')
  const own = records.find((record) => record.usage === 3 && matches(record, certificate))
  if (own) return { isValid: true, until: Date.now() + RESUMED_FOR, by: parametersOf(own) }
  const anchors = records.filter(({ usage }) => usage === 2)
  const isAnchor = (issuer: X509Certificate): boolean => anchors.some((record) => matches(record, issuer))
  const found = issuersOf(certificate).filter(isAnchor)
  const [first] = found
  if (!first) return failure('it matches none of the TLSA records')
  const inPem = found.map(String)
  if (inPem.some((pem) => !authorities.includes(pem))) throw new AuthorityFound(inPem)
  if (!tls.authorized) return untrusted(tls)
  if (!names.some((name) => isNamed(certificate, name))) return WRONG_NAME
  const by = anchors.find((record) => matches(record, first))
  return { isValid: true, until: certificate.validToDate.getTime(), ...(by ? { by: parametersOf(by) } : {}) }
}

/** The records themselves are right, so the result is not `tlsa-invalid`. */
function failure(problem: string): Verdict {
  return { isValid: false, problem, result: 'validation-failure' }
}

function parametersOf({ usage, selector, matching }: TlsaRecord): string {
  return `${usage} ${selector} ${matching}`
}

/** The other certificates that the server has sent. */
function issuersOf(certificate: X509Certificate): X509Certificate[] {
  const issuers: X509Certificate[] = []
  for (let next = certificate.issuerCertificate; next && issuers.length < MAX_CHAIN; next = next.issuerCertificate) {
    if (issuers.some(({ fingerprint256 }) => fingerprint256 === next?.fingerprint256)) break
    issuers.push(next)
  }
  return issuers
}
