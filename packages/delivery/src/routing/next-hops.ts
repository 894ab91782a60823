import { isIP } from 'node:net'
import type { Config, Outcome, Providers, RelayHost, Source, Tls } from '@postrider/core'
import type { Endpoint } from '../common/endpoint.ts'
import { type HostChoice, inOrder } from './host-order.ts'
import { createMx, type Mx, type NextHop } from './mx.ts'
import { addressesOf } from './worker-sources.ts'

/** The names of the hosts of an attempt. */
export interface HostsOfAttempt {
  readonly tried: Set<string>
  /** Those that refused the message, which are not offered it again. */
  readonly refused: ReadonlySet<string>
}

/** Where deliveries are sent according to DELIVERY: the recipients' servers, a relay host, or the sandbox. */
export interface NextHops {
  /** `accountId`: the one for whose mail it is asked. */
  of(domain: string, accountId?: number): Promise<NextHop> | NextHop
  /**
   * The endpoints to try, in order, but those of hosts in `refused`. The hosts of which it answers an endpoint, or which have none, are added to
   * `tried`. With a source, those that it can reach: one without an IPv6 address uses IPv4 only.
   */
  endpoints(
    nextHop: Extract<NextHop, { kind: 'hosts' }>,
    choice: HostChoice & HostsOfAttempt,
    source: Source | undefined,
  ): AsyncIterable<Endpoint>
  /** The outcome if there are no endpoints. */
  withoutEndpoints(nextHop: Extract<NextHop, { kind: 'hosts' }>): Promise<Outcome>
  /** The IP versions of the addresses that the hosts have. */
  versions(nextHop: Extract<NextHop, { kind: 'hosts' }>): Promise<ReadonlySet<number>>
  /** The destination that all mail goes to, except that of simulated providers; undefined if mail goes to many. Its limit is the overall limit. */
  readonly mainDestination: string | undefined
}

export function createNextHops(config: Config, providers: Providers, tls: Tls): NextHops {
  const { delivery, sandboxHost, sandboxSmtpPort } = config
  if (delivery.kind === 'relay') return relayNextHops(delivery, 'relay')
  if (delivery.kind === 'sandbox') return sandboxNextHops({ host: sandboxHost, port: sandboxSmtpPort }, providers)
  return mxNextHops(config, createMx({ config, providers, tls }))
}

/** Maximum number of addresses per attempt: each may take half a minute (V68; like Postfix's smtp_mx_address_limit). */
const MAX_TRIED = 5

function relayEndpoint(relay: RelayHost): Omit<Endpoint, 'address'> {
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

/** All mail goes to one host, which is a destination of its own. */
export function relayNextHops(relay: RelayHost, destination: string): NextHops {
  const endpoint = relayEndpoint(relay)
  const nextHop = fixedNextHop(endpoint, destination)
  return {
    mainDestination: destination,
    of: () => nextHop,
    versions: async () => versionsOf(endpoint.host),
    withoutEndpoints: async () => NO_ENDPOINT,
    // The operating system resolves the configured name, which may be in a hosts file.
    async *endpoints(_nextHop, _choice, source) {
      yield* reachable({ ...endpoint, address: endpoint.host }, source)
    },
  }
}

/**
 * All mail goes to the sandbox. It has no MX records, so that a domain is its own mail host (RFC 5321 5.1): the domains that providers list
 * as hosts are simulated providers, with limits and back-off rules of their own.
 */
function sandboxNextHops(sandbox: { readonly host: string; readonly port: number }, providers: Providers): NextHops {
  const nextHop = fixedNextHop(sandbox, 'sandbox')
  return {
    mainDestination: 'sandbox',
    versions: async () => versionsOf(sandbox.host),
    withoutEndpoints: async () => NO_ENDPOINT,
    of: (domain) => {
      const provider = providers.ofHost(domain)
      if (!provider) return nextHop
      return { kind: 'hosts', site: domain, destination: provider.name, hosts: [{ name: domain, preference: 0 }] }
    },
    async *endpoints({ hosts }, _choice, source) {
      for (const { name } of hosts) yield* reachable({ host: name, address: sandbox.host, port: sandbox.port }, source)
    },
  }
}

/** The source has no address of the IP version of the host. */
const NO_ENDPOINT: Outcome = {
  kind: 'deferred',
  indeterminate: false,
  stage: 'mx',
  reply: { code: 451, enhanced: '4.4.3', text: 'the source address does not reach the host', own: true },
  steps: [],
  milliseconds: 0,
}

function fixedNextHop({ host, port }: { readonly host: string; readonly port: number }, destination: string): NextHop {
  return { kind: 'hosts', site: `${host}:${port}`, destination, hosts: [{ name: host, preference: 0 }] }
}

/** The IP versions of a fixed host. A name may have addresses of both. */
function versionsOf(host: string): ReadonlySet<number> {
  return new Set(isIP(host) === 0 ? [4, 6] : [isIP(host)])
}

/** The endpoint with the local address of the source; nothing if the source has none of that IP version. */
function reachable(endpoint: Endpoint, source: Source | undefined): Endpoint[] {
  if (!source) return [endpoint]
  const version = isIP(endpoint.address)
  // A name is resolved when the connection is opened, to an address of the same version.
  const localAddress = addressesOf(source).find((address) => version === 0 || isIP(address) === version)
  return localAddress === undefined ? [] : [{ ...endpoint, localAddress }]
}

function mxNextHops(config: Config, mx: Mx): NextHops {
  return {
    mainDestination: undefined,
    of: mx.of,
    withoutEndpoints: ({ hosts }) => mx.withoutAddress(hosts),
    async versions({ hosts }) {
      const addresses = await Promise.all(hosts.map(({ name }) => mx.addresses(name).catch(() => [])))
      return new Set(addresses.flat().map(isIP))
    },
    async *endpoints({ hosts }, { tried, refused, ...choice }, source) {
      const candidates = inOrder(hosts, choice)
      // A host with many dead addresses must not use up the attempts of the next ones: its other addresses come after these.
      const perHost = Math.max(1, Math.floor(MAX_TRIED / candidates.length))
      const later: Endpoint[] = []
      let answered = 0
      for (const { name, dane } of candidates) {
        if (answered >= MAX_TRIED) return
        if (refused.has(name)) continue
        tried.add(name)
        const addresses = await mx.addresses(name).catch(() => {
          // A DNS that does not answer takes as long as a dead address.
          answered++
          return []
        })
        const endpoint = { host: name, port: config.mxPort, ...(dane ? { dane } : {}) }
        const endpoints = addresses.flatMap((address) => reachable({ ...endpoint, address }, source))
        const all = rotated(endpoints, perHost * (choice.attempt - 1))
        later.push(...all.splice(perHost))
        for (const one of all) {
          if (answered++ >= MAX_TRIED) return
          yield one
        }
      }
      for (const one of later) {
        if (refused.has(one.host)) continue
        if (answered++ >= MAX_TRIED) return
        yield one
      }
    },
  }
}

/** Beginning with the element of this number. */
function rotated<T>(list: readonly T[], from: number): T[] {
  const first = list.length === 0 ? 0 : from % list.length
  return [...list.slice(first), ...list.slice(0, first)]
}
