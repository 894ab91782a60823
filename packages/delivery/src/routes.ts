import type { Config, DeliveryRoute } from '@postrider/core'
import { createMx, type Mx, type Route, shuffled } from './mx.ts'
import type { Endpoint } from './smtp/connection.ts'

/** Where deliveries go, whatever DELIVERY says: to the recipients' servers, to one relay host, or to the sandbox. */
export interface Routes {
  route(domain: string): Promise<Route> | Route
  /**
   * The endpoints to try, in order. `onlyHost`: after an indeterminate attempt only that host, unless it has left the route.
   */
  endpoints(route: Extract<Route, { kind: 'hosts' }>, onlyHost: string | null): AsyncIterable<Endpoint>
  /** All mail goes to one place, so the limit of a site is the limit of everything. */
  readonly single: boolean
}

export function createRoutes(config: Config): Routes {
  const fixed = fixedEndpoint(config)
  return fixed ? fixedRoutes(fixed) : mxRoutes(config, createMx(config))
}

/** Addresses tried at one attempt: each may keep us waiting for half a minute (V68, as Postfix's smtp_mx_address_limit). */
const MOST_TRIED = 5

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
    // A password goes only to who can prove to be the relay host.
    verify: user !== undefined && !local,
    ...(user === undefined ? {} : { credentials: { user, password: password ?? '' } }),
  }
}

function fixedRoutes(endpoint: Omit<Endpoint, 'address'>): Routes {
  const site = `${endpoint.host}:${endpoint.port}`
  const route: Route = { kind: 'hosts', site, hosts: [{ name: endpoint.host, preference: 0 }] }
  return {
    single: true,
    route: () => route,
    // The operating system resolves a name an operator wrote down; it may stand in a hosts file.
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
      // A host with many dead addresses must not use up the turn of the next one.
      const perHost = candidates.length > 1 ? 2 : MOST_TRIED
      let tried = 0
      for (const { name } of candidates) {
        const addresses = await mx.addresses(name).catch(() => [])
        for (const address of addresses.slice(0, perHost)) {
          if (++tried > MOST_TRIED) return
          yield { host: name, address, port: config.mxPort }
        }
      }
    },
  }
}
