import type { Config, DeliveryRoute, Providers } from '@postrider/core'
import { createMx, type Mx, type Route, shuffled } from './mx.ts'
import type { Endpoint } from './smtp/endpoint.ts'

/** Where deliveries are sent according to DELIVERY: the recipients' servers, a relay host, or the sandbox. */
export interface Routes {
  route(domain: string): Promise<Route> | Route
  /**
   * The endpoints to try, in order. `onlyHost`: after an indeterminate attempt only that host, unless the route no longer has it.
   */
  endpoints(route: Extract<Route, { kind: 'hosts' }>, onlyHost: string | null): AsyncIterable<Endpoint>
  /** All mail goes to one destination, so the limit of a site is the overall limit. */
  readonly single: boolean
}

export function createRoutes(config: Config, providers: Providers): Routes {
  const fixed = fixedEndpoint(config)
  return fixed ? fixedRoutes(fixed, config.delivery.kind) : mxRoutes(config, createMx(config, providers))
}

/** Maximum number of addresses per attempt: each may take half a minute (V68; like Postfix's smtp_mx_address_limit). */
const MAX_TRIED = 5

function fixedEndpoint(config: Config): Omit<Endpoint, 'address'> | undefined {
  const { delivery } = config
  if (delivery.kind === 'sandbox') return { host: config.sandboxHost, port: config.sandboxSmtpPort }
  return delivery.kind === 'relay' ? relayEndpoint(delivery) : undefined
}

function relayEndpoint(relay: Extract<DeliveryRoute, { kind: 'relay' }>): Omit<Endpoint, 'address'> {
  const { host, port, tls, user, password } = relay
  const local = host === 'localhost' || host === '::1' || host.startsWith('127.')
  return {
    host,
    port,
    implicitTls: tls,
    // A password is only sent to a host with a valid certificate.
    verify: user !== undefined && !local,
    ...(user === undefined ? {} : { credentials: { user, password: password ?? '' } }),
  }
}

/** `place`: the provider `relay` or `sandbox`. */
function fixedRoutes(endpoint: Omit<Endpoint, 'address'>, place: string): Routes {
  const site = `${endpoint.host}:${endpoint.port}`
  const route: Route = { kind: 'hosts', site, place, hosts: [{ name: endpoint.host, preference: 0 }] }
  return {
    single: true,
    route: () => route,
    // The operating system resolves the configured name, which may be in a hosts file.
    async *endpoints() {
      yield { ...endpoint, address: endpoint.host }
    },
  }
}

function mxRoutes(config: Config, mx: Mx): Routes {
  return {
    single: false,
    route: mx.route,
    async *endpoints({ hosts }, onlyHost) {
      const held = onlyHost === null ? undefined : hosts.find(({ name }) => name === onlyHost)
      const candidates = held ? [held] : shuffled(hosts)
      // A host with many dead addresses must not use up the attempts of the next one.
      const perHost = candidates.length > 1 ? 2 : MAX_TRIED
      let tried = 0
      for (const { name } of candidates) {
        const addresses = await mx.addresses(name).catch(() => [])
        for (const address of addresses.slice(0, perHost)) {
          if (++tried > MAX_TRIED) return
          yield { host: name, address, port: config.mxPort }
        }
      }
    },
  }
}
