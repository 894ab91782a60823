import {
  type Core,
  type Log,
  lifetimeOf,
  type Outcome,
  type Providers,
  type SmartHostUse,
  smartHostOf,
  type TlsNeed,
  UNDEMANDING,
} from '@postrider/core'
import type { InFlightDelivery } from '../attempt/deliver.ts'
import type { Destinations } from '../destinations/destinations.ts'
import type { NextHop } from '../routing/mx.ts'
import type { NextHops } from '../routing/next-hops.ts'
import type { SmartHosts } from '../routing/smart-hosts.ts'
import type { SourceRoute, WorkerSources } from '../routing/worker-sources.ts'
import { sessionsOf, TlsPolicy } from '../tls/policy.ts'

/** How a delivery is sent: to which hosts, from which source, and whether this worker can do that. */
export interface Route extends SourceRoute {
  readonly kind: 'route'
  readonly nextHop: Extract<NextHop, { kind: 'hosts' }>
  readonly nextHops: NextHops
  /** The TLS level that it demands, and why. */
  readonly tls: TlsNeed
  /** The sessions that it can use (policy.ts). */
  readonly site: string
}

type Failed = { readonly kind: 'failed'; readonly outcome: Outcome }

export interface RoutesOptions {
  readonly core: Core
  readonly log: Log
  readonly providers: Providers
  readonly nextHops: NextHops
  readonly sources: WorkerSources
  readonly smartHosts: SmartHosts
  readonly destinations: Destinations
}

/** Finds out how deliveries are sent: usually to the recipient's hosts, in some situations to a smart host. */
export class Routes {
  readonly #options: RoutesOptions
  readonly #tls: TlsPolicy

  constructor(options: RoutesOptions) {
    this.#options = options
    this.#tls = new TlsPolicy(options)
  }

  /** To be called before the first delivery: what mail demands of its connections must be known. */
  start(): Promise<void> {
    return this.#tls.start()
  }

  close(): Promise<void> {
    return this.#tls.close()
  }

  /**
   * The route of a delivery. A smart host never replaces the usual route after an indeterminate attempt, nor the reverse: the message
   * may already be with the host that was tried.
   */
  async choose(inFlight: InFlightDelivery): Promise<Route | Failed> {
    const { nextHops, smartHosts } = this.#options
    const { accountId, recipientDomain, onlyHost } = inFlight.delivery
    if (!smartHosts.isEmpty && onlyHost !== null) {
      const again = this.#viaSmartHost(smartHosts.destinationWithHost(onlyHost), inFlight)
      if (again) return again
    }
    const nextHop = await nextHops.of(recipientDomain, accountId)
    const usual = nextHop.kind === 'failed' ? nextHop : await this.#usual(inFlight, nextHop)
    if (smartHosts.isEmpty || onlyHost !== null || (usual.kind === 'failed' && usual.outcome.kind !== 'deferred'))
      return usual
    return (await this.#failover(inFlight, usual)) ?? usual
  }

  /** The route of a delivery that has waited at a destination: the same one if it still exists, or the one that is to be used now. */
  async again(inFlight: InFlightDelivery, destination: string): Promise<Route | Failed> {
    const { nextHops } = this.#options
    const smart = this.#viaSmartHost(destination, inFlight)
    if (smart) return smart
    const { accountId, recipientDomain } = inFlight.delivery
    const nextHop = await nextHops.of(recipientDomain, accountId)
    return nextHop.kind === 'failed' ? nextHop : this.#usual(inFlight, nextHop)
  }

  async #usual(inFlight: InFlightDelivery, nextHop: Extract<NextHop, { kind: 'hosts' }>): Promise<Route> {
    const { sources, nextHops } = this.#options
    const versions = sources.needVersions ? await nextHops.versions(nextHop) : undefined
    return this.#withTls(inFlight, { ...sources.choose(inFlight, nextHop.destination, versions), nextHop, nextHops })
  }

  #withTls({ delivery, message }: InFlightDelivery, route: Omit<Route, 'kind' | 'tls' | 'site'>): Route {
    const { accountId, recipientDomain } = delivery
    const nextHop = message.settings.tls === UNDEMANDING ? withoutDane(route.nextHop) : route.nextHop
    const { destination } = route
    const question = {
      accountId,
      recipientDomain,
      asked: message.settings.tls,
      destination,
      published: nextHop.policy?.mode === 'enforce' ? ('sts' as const) : undefined,
    }
    const tls = this.#tls.needOf(question)
    return { kind: 'route', ...route, nextHop, tls, site: sessionsOf(nextHop.site, tls.level, nextHop.dane) }
  }

  #viaSmartHost(destination: string | undefined, inFlight: InFlightDelivery): Route | undefined {
    const nextHops = destination === undefined ? undefined : this.#options.smartHosts.nextHopsOf(destination)
    const nextHop = nextHops?.of(inFlight.delivery.recipientDomain) as Route['nextHop'] | undefined
    return (
      nextHops &&
      nextHop &&
      this.#withTls(inFlight, { destination: nextHop.destination, source: undefined, isHere: true, nextHop, nextHops })
    )
  }

  async #failover(inFlight: InFlightDelivery, usual: Route | Failed): Promise<Route | undefined> {
    const { destinations, smartHosts } = this.#options
    const { delivery } = inFlight
    for (const use of this.#situations(inFlight, usual)) {
      for (const destination of smartHosts.destinationsFor(use, delivery.class)) {
        const route = this.#viaSmartHost(destination, inFlight)
        const smartHost = destinations.named(destination)
        if (!route || smartHost.closedFor(delivery) || smartHost.health.isDown(route.site)) continue
        if (use === 'deadline' && (await this.#isUsualRouteNext(inFlight))) continue
        // Its daily limit may have been reached meanwhile; mail would wait for the next day there.
        if (!smartHost.closedFor(delivery)) return route
      }
    }
    return undefined
  }

  *#situations({ delivery, message, takenAt }: InFlightDelivery, usual: Route | Failed): Generator<SmartHostUse> {
    const left = delivery.lifetimeLeft - (performance.now() - takenAt)
    if (usual.kind === 'route') {
      if (usual.waitingFor === 'warm-up') yield 'spill'
      // Mail that is tried for the last time has nothing left.
      if (this.#options.destinations.pausedByRule(usual.destination, delivery) > Math.max(0, left)) yield 'blocked'
    }
    if (left < (lifetimeOf(message.settings) * 1000) / 2) yield 'deadline'
  }

  /**
   * Seconds after which a parked delivery is looked at again, so that a smart host gets it after half of its lifetime; undefined if there
   * is no such smart host.
   */
  lookWithin({ delivery, message, takenAt }: InFlightDelivery): number | undefined {
    const { done } = this.#options.smartHosts.destinationsFor('deadline', delivery.class).next()
    if (done) return undefined
    const left = delivery.lifetimeLeft - (performance.now() - takenAt)
    const untilHalf = left / 1000 - lifetimeOf(message.settings) / 2
    return untilHalf > 0 ? Math.ceil(untilHalf) + 1 : undefined
  }

  /** A host had a session with it, or the last attempt was at a smart host: it takes turns with the usual route, which may work again. */
  async #isUsualRouteNext({ delivery: { messageId, recipientNo, attempt } }: InFlightDelivery): Promise<boolean> {
    if (attempt === 1) return false
    const { hadSession, lastPlace: lastDestination } = await this.#options.core.deliveries.attemptsSoFar(
      messageId,
      recipientNo,
    )
    return hadSession || smartHostOf(lastDestination ?? '') !== undefined
  }
}

/** The route without the demands of TLSA records. */
function withoutDane(nextHop: Route['nextHop']): Route['nextHop'] {
  const { dane: _, ...rest } = nextHop
  return { ...rest, hosts: nextHop.hosts.map(({ name, preference }) => ({ name, preference })) }
}
