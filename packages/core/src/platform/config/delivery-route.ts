import { Resolver } from 'node:dns'
import { isIP } from 'node:net'
import { isPrivateAddress } from '../net/networks.ts'
import { ConfigError } from './config-error.ts'
import { decoded } from './values.ts'

/** Where mail is sent: to the sandbox inbox, to the recipients' servers, or to one relay host. */
export type DeliveryRoute =
  | { readonly kind: 'sandbox' }
  | { readonly kind: 'mx' }
  | ({ readonly kind: 'relay' } & RelayHost)

/** An SMTP server that accepts mail for all domains. */
export interface RelayHost {
  readonly host: string
  readonly port: number
  /** Implicit TLS. */
  readonly tls: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

export function deliveryRoute(text: string): DeliveryRoute {
  if (text === 'sandbox' || text === 'mx') return { kind: text }
  const relay = relayHostOf(text)
  if (relay) return { kind: 'relay', ...relay }
  if (/^smtps?:\/\/./.test(text) && URL.canParse(text)) {
    throw new ConfigError('DELIVERY', 'must have special characters in the user name and password percent-encoded')
  }
  throw new ConfigError('DELIVERY', 'must be sandbox, mx, or smtp://user:pass@host:port')
}

/** The relay host of a URL such as smtp://user:password@host:port; undefined if it is not valid. */
export function relayHostOf(text: string): RelayHost | undefined {
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const tls = url.protocol === 'smtps:'
  const [user, password] = [decoded(url.username), decoded(url.password)]
  if (!url.hostname || user === undefined || password === undefined) return undefined
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : tls ? 465 : 25,
    tls,
    user: user || undefined,
    password: password || undefined,
  }
}

export function dnsServers(text: string | undefined): string[] {
  const servers = (text ?? '')
    .split(',')
    .map((server) => server.trim())
    .filter(Boolean)
  try {
    new Resolver().setServers(servers)
  } catch {
    throw new ConfigError('DNS_SERVERS', 'must be a comma-separated list of IP addresses, each with an optional :port')
  }
  return servers
}

/**
 * The resolver that validates DNSSEC. Its answers are not protected on the way, so it must be on this host or a network of the operator.
 *
 * Throws {@link ConfigError}.
 */
export function dnssecResolver(
  text: string | undefined,
): { readonly address: string; readonly port: number } | undefined {
  if (!text) return undefined
  const { address, port } = addressAndPort(text.trim())
  if (isIP(address) === 0 || !/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new ConfigError(
      'DNSSEC_RESOLVER',
      'must be an IP address with an optional port, such as 127.0.0.1:53 or [::1]:53',
    )
  }
  if (!isPrivateAddress(address)) {
    const reason = 'responses are not protected on the way'
    throw new ConfigError('DNSSEC_RESOLVER', `must be on this host or on a private network, because ${reason}`)
  }
  return { address, port: Number(port) }
}

function addressAndPort(text: string): { readonly address: string; readonly port: string } {
  if (isIP(text) !== 0) return { address: text, port: '53' }
  const at = text.lastIndexOf(':')
  const whole = text.endsWith(']') || at === -1
  const address = whole ? text : text.slice(0, at)
  return { address: address.replace(/^\[|\]$/g, ''), port: whole ? '53' : text.slice(at + 1) }
}

/** In the sandbox nothing leaves the machine, including DNS queries, unless resolvers are configured. */
export function asksDns({
  delivery,
  dnsServers,
}: {
  readonly delivery: DeliveryRoute
  readonly dnsServers: readonly string[]
}): boolean {
  return delivery.kind !== 'sandbox' || dnsServers.length > 0
}
