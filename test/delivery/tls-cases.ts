import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { type IssuedCertificate, makeAuthority, selfSigned } from './authority.ts'
import { type Internet, startInternetProcess } from './outbox.ts'
import { type PolicyHostOptions, startPolicyHost } from './policy-host.ts'
import { startTlsServer, type TlsServerOptions } from './tls-server.ts'
import { tlsaOf } from './tlsa.ts'

/** Where the reports of all cases go. */
export const REPORTS_TO = 'tls@inbox.example'

export interface TlsCase {
  readonly certificate?: (name: string) => Promise<IssuedCertificate>
  /** The host does not offer STARTTLS. */
  readonly isPlain?: boolean
  readonly tls?: Pick<TlsServerOptions, 'refuses' | 'handshake'>
  readonly tlsa?: (certificate: IssuedCertificate) => readonly string[]
  /** The records cannot be looked up. */
  readonly lostRecords?: boolean
  /** The MTA-STS policy lists the host. */
  readonly policy?: Pick<PolicyHostOptions, 'policy' | 'respond'> & { readonly isUntrusted?: boolean }
  /** What the message demands. */
  readonly asks?: string
}

const authority = await makeAuthority()
const valid = (name: string) => authority.issue([name])
const withAuthority = async (names: readonly string[], options = {}): Promise<IssuedCertificate> => {
  const made = await authority.issue([...names], options)
  return { ...made, cert: `${made.cert.trim()}\n${authority.cert}` }
}
const expired = (name: string) => withAuthority([name], { expired: true })
const ofOther = () => withAuthority(['other.example'])
const byAuthority = () => [tlsaOf(authority.cert, 2, 0, 1)]
const wrong = () => [`3 1 1 ${'ab'.repeat(32)}`]
const unusable = () => [`0 0 1 ${'ab'.repeat(32)}`]
const enforced = { policy: {} }
const tested = { policy: { policy: { mode: 'testing' } } }

/** Sessions, and the type of the policy and of the result in reports (RFC 8460 4.3); an empty result is a success. */
export const TLS_CASES: Readonly<Record<string, readonly [TlsCase, policyType: string, result: string]>> = {
  'a valid certificate': [{ ...enforced }, 'sts', ''],
  'a certificate that matches': [{ tlsa: ({ cert }) => [tlsaOf(cert, 3, 1, 1)] }, 'tlsa', ''],
  'any certificate without a policy': [{ certificate: selfSigned }, 'no-policy-found', ''],
  'no STARTTLS, without a policy': [{ isPlain: true }, 'no-policy-found', 'starttls-not-supported'],
  'no STARTTLS, under a policy': [{ isPlain: true, ...enforced }, 'sts', 'starttls-not-supported'],
  'no STARTTLS, with TLSA records': [{ isPlain: true, tlsa: wrong }, 'tlsa', 'starttls-not-supported'],
  'the name of another host': [{ certificate: ofOther, ...enforced }, 'sts', 'certificate-host-mismatch'],
  'the name of another host, tested': [{ certificate: ofOther, ...tested }, 'sts', 'certificate-host-mismatch'],
  'the name of another host, of the authority in a TLSA record': [
    { certificate: ofOther, tlsa: byAuthority },
    'tlsa',
    'certificate-host-mismatch',
  ],
  'an expired certificate': [{ certificate: expired, ...enforced }, 'sts', 'certificate-expired'],
  'an expired certificate, tested': [{ certificate: expired, ...tested }, 'sts', 'certificate-expired'],
  'an expired certificate of the authority in a TLSA record': [
    { certificate: expired, tlsa: byAuthority },
    'tlsa',
    'certificate-expired',
  ],
  'a self-signed certificate': [{ certificate: selfSigned, ...enforced }, 'sts', 'certificate-not-trusted'],
  'a self-signed certificate, tested': [{ certificate: selfSigned, ...tested }, 'sts', 'certificate-not-trusted'],
  'a certificate that matches no TLSA record': [{ tlsa: wrong }, 'tlsa', 'validation-failure'],
  'a handshake that is cut': [{ tls: { handshake: 'cut' }, ...enforced }, 'sts', 'validation-failure'],
  'STARTTLS that is offered and refused': [
    { tls: { refuses: '454 no TLS today\r\n' }, ...enforced },
    'sts',
    'validation-failure',
  ],
  'STARTTLS that is offered and refused, without a policy': [
    { tls: { refuses: '454 no TLS today\r\n' } },
    'no-policy-found',
    'validation-failure',
  ],
  'unusable TLSA records': [{ tlsa: unusable }, 'tlsa', 'tlsa-invalid'],
  'unusable TLSA records for mail that demands DANE': [{ tlsa: unusable, asks: 'dane' }, 'tlsa', 'tlsa-invalid'],
  'TLSA records that cannot be looked up': [{ lostRecords: true }, 'tlsa', 'dnssec-invalid'],
  'no TLSA records for mail that demands DANE': [{ asks: 'dane' }, 'no-policy-found', 'dane-required'],
  'a policy host that fails': [
    { policy: { respond: (_request, response) => void response.writeHead(500).end() } },
    'sts',
    'sts-policy-fetch-error',
  ],
  'a policy that is not one': [
    { policy: { respond: (_request, response) => void response.setHeader('content-type', 'text/plain').end('none') } },
    'sts',
    'sts-policy-invalid',
  ],
  'a policy host with a certificate that is not trusted': [
    { policy: { isUntrusted: true } },
    'sts',
    'sts-webpki-invalid',
  ],
}

/** The part of the Internet that the cases need; `domainOf` makes the recipient domain of one, with one mail host. */
export interface TlsInternet extends Internet {
  domainOf(t: Test, given: TlsCase): Promise<string>
}

export async function startTlsInternet(t: Test, settings: Record<string, string>): Promise<TlsInternet> {
  const [policyPort = 0] = await freePorts(1)
  const internet = await startInternetProcess(
    t,
    {
      NODE_EXTRA_CA_CERTS: authority.file,
      NODE_OPTIONS: `--import ${fileURLToPath(new URL('../helpers/policy-port.ts', import.meta.url))}`,
      POLICY_PORT: String(policyPort),
      ...settings,
    },
    { isSigned: () => true },
  )
  const { dns } = internet
  let hosts = 0
  async function domainOf(
    t: Test,
    { certificate = valid, isPlain = false, tls = {}, tlsa, lostRecords = false, policy }: TlsCase,
  ): Promise<string> {
    const name = `mx${++hosts}.harbor.example`
    const made = await certificate(name)
    const at = { host: internet.newAddress(), port: internet.port }
    await startTlsServer(t, at, { ...(isPlain ? {} : { context: made }), ...tls })
    dns.zones[name] = { a: [at.host] }
    const records = `_${internet.port}._tcp.${name}`
    if (tlsa) dns.zones[records] = { tlsa: tlsa(made) }
    if (lostRecords) dns.zones[records] = { fails: 'servfail' }
    const domain = internet.domain([{ name }])
    dns.zones[`_smtp._tls.${domain}`] = { txt: [`v=TLSRPTv1; rua=mailto:${REPORTS_TO}`] }
    if (policy) {
      const { isUntrusted, ...given } = policy
      const address = internet.newAddress()
      await startPolicyHost(t, domain, {
        dns,
        authority,
        address,
        port: policyPort,
        ...given,
        policy: { mx: [name], ...given.policy },
        ...(isUntrusted ? { certificate: await selfSigned(`mta-sts.${domain}`) } : {}),
      })
    }
    return domain
  }
  return { ...internet, domainOf }
}
