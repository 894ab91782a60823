import { Resolver } from 'node:dns'
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
