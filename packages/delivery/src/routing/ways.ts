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
import type { Places } from '../destinations/places.ts'
import type { InFlightDelivery } from '../smtp/deliver.ts'
import { sessionsOf, TlsPolicy } from '../tls/policy.ts'
import type { Route } from './mx.ts'
import type { Routes } from './routes.ts'
import type { SmartHosts } from './smart-hosts.ts'
import type { SourceWay, WorkerSources } from './worker-sources.ts'

/** How a delivery is sent: to which hosts, from which source, and whether this worker can do that. */
export interface Way extends SourceWay {
  readonly kind: 'way'
  readonly route: Extract<Route, { kind: 'hosts' }>
  readonly routes: Routes
  /** The TLS level that it demands, and why. */
  readonly tls: TlsNeed
  /** The sessions that it can use (policy.ts). */
  readonly site: string
}

type Failed = { readonly kind: 'failed'; readonly outcome: Outcome }

export interface WaysOptions {
  readonly core: Core
  readonly log: Log
  readonly providers: Providers
  readonly routes: Routes
  readonly sources: WorkerSources
  readonly smartHosts: SmartHosts
  readonly places: Places
}

/** Finds out how deliveries are sent: usually to the recipient's hosts, in some situations to a smart host. */
export class Ways {
  readonly #options: WaysOptions
  readonly #tls: TlsPolicy

  constructor(options: WaysOptions) {
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
   * The way of a delivery. A smart host never replaces the usual way after an indeterminate attempt, nor the other way round: the message
   * may already be with the host that was tried.
   */
  async choose(inFlight: InFlightDelivery): Promise<Way | Failed> {
    const { routes, smartHosts } = this.#options
    const { accountId, recipientDomain, onlyHost } = inFlight.delivery
    if (!smartHosts.isEmpty && onlyHost !== null) {
      const again = this.#viaSmartHost(smartHosts.placeWithHost(onlyHost), inFlight)
      if (again) return again
    }
    const route = await routes.route(recipientDomain, accountId)
    const usual = route.kind === 'failed' ? route : await this.#usual(inFlight, route)
    if (smartHosts.isEmpty || onlyHost !== null || (usual.kind === 'failed' && usual.outcome.kind !== 'deferred'))
      return usual
    return (await this.#failover(inFlight, usual)) ?? usual
  }

  /** The way of a delivery that has waited at a place: the same one if it still exists, or the one that is to be used now. */
  async again(inFlight: InFlightDelivery, place: string): Promise<Way | Failed> {
    const { routes } = this.#options
    const smart = this.#viaSmartHost(place, inFlight)
    if (smart) return smart
    const { accountId, recipientDomain } = inFlight.delivery
    const route = await routes.route(recipientDomain, accountId)
    return route.kind === 'failed' ? route : this.#usual(inFlight, route)
  }

  async #usual(inFlight: InFlightDelivery, route: Extract<Route, { kind: 'hosts' }>): Promise<Way> {
    const { sources, routes } = this.#options
    const versions = sources.needVersions ? await routes.versions(route) : undefined
    return this.#withTls(inFlight, { ...sources.choose(inFlight, route.place, versions), route, routes })
  }

  #withTls({ delivery, message }: InFlightDelivery, way: Omit<Way, 'kind' | 'tls' | 'site'>): Way {
    const { accountId, recipientDomain } = delivery
    const route = message.settings.tls === UNDEMANDING ? withoutDane(way.route) : way.route
    const { place } = way
    const question = {
      accountId,
      recipientDomain,
      asked: message.settings.tls,
      place,
      published: route.policy?.mode === 'enforce' ? ('sts' as const) : undefined,
    }
    const tls = this.#tls.needOf(question)
    return { kind: 'way', ...way, route, tls, site: sessionsOf(route.site, tls.level, route.dane) }
  }

  #viaSmartHost(place: string | undefined, inFlight: InFlightDelivery): Way | undefined {
    const routes = place === undefined ? undefined : this.#options.smartHosts.routesOf(place)
    const route = routes?.route(inFlight.delivery.recipientDomain) as Way['route'] | undefined
    return (
      routes && route && this.#withTls(inFlight, { place: route.place, source: undefined, isHere: true, route, routes })
    )
  }

  async #failover(inFlight: InFlightDelivery, usual: Way | Failed): Promise<Way | undefined> {
    const { places, smartHosts } = this.#options
    const { delivery } = inFlight
    for (const use of this.#situations(inFlight, usual)) {
      for (const place of smartHosts.placesFor(use, delivery.class)) {
        const way = this.#viaSmartHost(place, inFlight)
        const smartHost = places.named(place)
        if (!way || smartHost.closedFor(delivery) || smartHost.health.isDown(way.site)) continue
        if (use === 'deadline' && (await this.#isUsualWayNext(inFlight))) continue
        // Its daily limit may have been reached meanwhile; mail would wait for the next day there.
        if (!smartHost.closedFor(delivery)) return way
      }
    }
    return undefined
  }

  *#situations({ delivery, message, takenAt }: InFlightDelivery, usual: Way | Failed): Generator<SmartHostUse> {
    const left = delivery.lifetimeLeft - (performance.now() - takenAt)
    if (usual.kind === 'way') {
      if (usual.waitingFor === 'warm-up') yield 'spill'
      // Mail that is tried for the last time has nothing left.
      if (this.#options.places.pausedByRule(usual.place, delivery) > Math.max(0, left)) yield 'blocked'
    }
    if (left < (lifetimeOf(message.settings) * 1000) / 2) yield 'deadline'
  }

  /**
   * Seconds after which a parked delivery is looked at again, so that a smart host gets it after half of its lifetime; undefined if there
   * is no such smart host.
   */
  lookWithin({ delivery, message, takenAt }: InFlightDelivery): number | undefined {
    const { done } = this.#options.smartHosts.placesFor('deadline', delivery.class).next()
    if (done) return undefined
    const left = delivery.lifetimeLeft - (performance.now() - takenAt)
    const untilHalf = left / 1000 - lifetimeOf(message.settings) / 2
    return untilHalf > 0 ? Math.ceil(untilHalf) + 1 : undefined
  }

  /** A host had a session with it, or the last attempt was at a smart host: it takes turns with the usual way, which may work again. */
  async #isUsualWayNext({ delivery: { messageId, recipientNo, attempt } }: InFlightDelivery): Promise<boolean> {
    if (attempt === 1) return false
    const { hadSession, lastPlace } = await this.#options.core.deliveries.attemptsSoFar(messageId, recipientNo)
    return hadSession || smartHostOf(lastPlace ?? '') !== undefined
  }
}

/** The route without the demands of TLSA records. */
function withoutDane(route: Way['route']): Way['route'] {
  const { dane: _, ...rest } = route
  return { ...rest, hosts: route.hosts.map(({ name, preference }) => ({ name, preference })) }
}
