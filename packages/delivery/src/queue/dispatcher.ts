import {
  type ClaimedDelivery,
  type Config,
  type Core,
  type Flow,
  isDatabaseAway,
  isPerishable,
  type Log,
  type Providers,
  type WaitingFor,
} from '@postrider/core'
import { Conversations } from '../destinations/conversations.ts'
import type { Place, RoutedDelivery } from '../destinations/place.ts'
import type { Connections } from '../destinations/place-connections.ts'
import { Places } from '../destinations/places.ts'
import { type Building, createBuilding } from '../message/building.ts'
import type { Routes } from '../routing/routes.ts'
import { SmartHosts } from '../routing/smart-hosts.ts'
import { Ways } from '../routing/ways.ts'
import { WorkerSources } from '../routing/worker-sources.ts'
import { deliver, type InFlightDelivery } from '../smtp/deliver.ts'
import { HostMemory } from '../smtp/session.ts'
import { AccountHolds } from './account-holds.ts'
import type { Backlogged } from './backlog.ts'
import { GiveBack } from './give-back.ts'
import { InFlightDeliveries } from './in-flight.ts'
import { hasEnded, isTooLate } from './lifetime.ts'
import { Outcomes } from './outcomes.ts'
import { beginningOf, endedWaiting, isWithoutAddress, siteDown, TOO_LATE } from './own-outcomes.ts'
import type { Recorder } from './recorder.ts'

export interface DispatcherOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly workerId: number
  readonly routes: Routes
  readonly providers: Providers
  readonly recorder: Recorder
  /** Called whenever capacity was freed. */
  readonly onCapacity: () => void
}

/** Milliseconds between checks of the places. */
const LOOK_EVERY_MS = 1000

/** Passes claimed deliveries to their places and outcomes to the recorder. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #places: Places
  readonly #conversations = new Conversations()
  readonly #memory = new HostMemory()
  readonly #building: Building
  readonly #inFlight: InFlightDeliveries
  readonly #outcomes: Outcomes
  readonly #giveBack: GiveBack
  readonly #sources: WorkerSources
  readonly #smartHosts: SmartHosts
  readonly #ways: Ways
  readonly #holds: AccountHolds
  readonly #looking: NodeJS.Timeout
  #stopping = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#building = createBuilding(options)
    this.#inFlight = new InFlightDeliveries(options.onCapacity)
    this.#outcomes = new Outcomes({ ...options, inFlight: this.#inFlight })
    this.#giveBack = new GiveBack({ ...options, inFlight: this.#inFlight })
    this.#sources = new WorkerSources({ ...options, onChanged: () => this.#routeAgain() })
    this.#smartHosts = new SmartHosts({ ...options, onChanged: () => this.#places.allowancesChanged() })
    this.#holds = new AccountHolds(options)
    this.#places = new Places({
      ...options,
      holds: this.#holds,
      conversations: this.#conversations,
      siteConnections: options.config.siteConnections,
      mainPlace: options.routes.mainPlace,
      sources: this.#sources,
      smartHosts: this.#smartHosts,
      park: (deliveries, place, waitingFor) => {
        // Another source, or a smart host, may send what this place does not take now. Of mail that is too much for it, this would be repeated.
        const mayGoElsewhere = waitingFor === 'warm-up' || !this.#smartHosts.isEmpty
        if (mayGoElsewhere && waitingFor !== 'connections') this.#routeAll(deliveries)
        else void this.#park(deliveries, place.name, waitingFor)
      },
      run: (inFlight, place, connections, isProbe) => this.#run(inFlight, place, { connections, isProbe }),
    })
    this.#ways = new Ways({ ...options, sources: this.#sources, smartHosts: this.#smartHosts, places: this.#places })
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /** To be called before the first {@link take}. */
  async start(): Promise<void> {
    await Promise.all([this.#sources.start(), this.#smartHosts.start(), this.#holds.start(), this.#ways.start()])
    await this.#places.start()
  }

  /** How many more deliveries may be claimed. */
  get capacity(): number {
    return this.#stopping ? 0 : this.#inFlight.capacity
  }

  /** Whether mail of the flow may be claimed while there is capacity. */
  mayClaim = (flow: Flow): boolean => this.#inFlight.mayClaim(flow)

  /** How many deliveries of a flow may be claimed even without capacity, because it has few in flight. */
  reserveFor(flow: Flow, given = 0): number {
    return this.#stopping ? 0 : this.#inFlight.reserveFor(flow, given)
  }

  get hasParked(): boolean {
    return this.#places.hasParked
  }

  /** Finds mail that is parked, also by other workers. */
  async lookForParked(): Promise<void> {
    await this.#places.look()
  }

  /** The database has no more parked mail of this flow at this place. */
  parkedIsEmpty(backlogged: Backlogged): void {
    this.#places.clear(backlogged)
  }

  /** Parked mail of the next place that can deliver some now, and how much of each flow may be claimed. */
  *parkedWithCapacity(): Generator<{ readonly backlogged: Backlogged; readonly limit: number }> {
    let given = 0
    const limitOf = (flow: Flow, room: number): number =>
      this.capacity - given >= room ? room : Math.min(room, this.reserveFor(flow, given))
    const mayClaim = (flow: Flow, room: number): boolean => this.mayClaim(flow) && limitOf(flow, room) > 0
    for (const { backlogged, room } of this.#places.withCapacity(mayClaim)) {
      const limit = limitOf(backlogged.flow, room)
      given += Math.max(limit, 0)
      if (limit > 0) yield { backlogged, limit }
    }
  }

  /**
   * Starts work on claimed deliveries. Resolves when their messages are loaded; routing continues in the background, since a slow DNS
   * server must not delay the next claim. Deliveries that cannot be started are released. Of one that is in flight, a crash of the database
   * has lost the claim before: it continues.
   */
  async take(all: readonly ClaimedDelivery[]): Promise<void> {
    const takenAt = performance.now()
    const claimed = all.filter((delivery) => !this.#inFlight.has(delivery))
    for (const delivery of claimed) this.#inFlight.take(delivery)
    try {
      const messages = await this.#options.core.messages.load([...new Set(claimed.map(({ messageId }) => messageId))])
      for (const delivery of claimed) {
        const message = messages.get(delivery.messageId)
        if (!message) {
          this.#outcomes.fault(delivery, new Error('the message of a queued delivery does not exist'))
          continue
        }
        this.#inFlight.load(message)
        this.#routeAll([{ delivery, message, takenAt }])
      }
    } catch (error) {
      const taken = claimed.map((delivery) => ({ delivery }))
      await this.#giveBack.release(taken, 1)
      throw error
    }
  }

  /** See {@link GiveBack.reconcile}. */
  async reconcile(): Promise<void> {
    await this.#giveBack.reconcile()
  }

  async #route(inFlight: InFlightDelivery): Promise<void> {
    const { delivery } = inFlight
    if (delivery.isHeld) return this.#outcomes.finish(delivery, endedWaiting('hold'), inFlight)
    const heldAt = this.#holds.isEmpty ? undefined : await this.#holds.placeOf(delivery)
    if (heldAt !== undefined) return this.#park([inFlight], heldAt, 'account')
    const way = await this.#ways.choose(inFlight)
    if (way.kind === 'failed') return this.#outcomes.finish(delivery, way.outcome, inFlight)
    if (this.#stopping) return this.#giveBack.release([inFlight], 0)
    if (!way.isHere) return this.#park([inFlight], way.place, way.waitingFor ?? 'source')
    const place = this.#places.named(way.place)
    const closed = place.closedFor(delivery) ?? (this.#places.roomFor(delivery, place) > 0 ? undefined : 'connections')
    if (closed) return this.#park([inFlight], place.name, closed)
    place.push({ ...inFlight, site: way.site })
  }

  /** The sources have changed: what waits for one that cannot send from here is passed to others. */
  #routeAgain(): void {
    this.#places.allowancesChanged()
    for (const place of this.#places) {
      if (place.waiting === 0 || this.#sources.of(place.name) === 'here') continue
      this.#routeAll(place.drain())
    }
    this.#options.onCapacity()
  }

  /** Routing continues in the background. */
  #routeAll(all: Iterable<InFlightDelivery>): void {
    for (const one of all)
      this.#route(one).catch((error: unknown) => this.#outcomes.fault(one.delivery, error, one.message))
  }

  /**
   * A place whose conversations do not end (a tarpit, a host that never greets) keeps its connections only: the deliveries that wait for
   * it are parked in the database, where they take no capacity from other places, until a conversation ends.
   */
  #look(): void {
    let slow = 0
    for (const place of this.#places) {
      slow += place.progress.slow
      place.tidy()
      if (place.waiting > 0 && this.#places.stalls(place)) void this.#park(place.drain(), place.name, 'connections')
    }
    this.#inFlight.slow = slow
    this.#conversations.slow = slow
    if (slow > 0) this.#options.onCapacity()
  }

  async #run(
    inFlight: RoutedDelivery,
    place: Place,
    { connections, isProbe }: { readonly connections: Connections; readonly isProbe: boolean },
  ): Promise<void> {
    try {
      const { core, config, workerId } = this.#options
      const { delivery, message, site } = inFlight
      if (isPerishable(message.settings) && isTooLate(inFlight))
        return this.#outcomes.finish(delivery, TOO_LATE, { message })
      const heldAt = this.#holds.heldAt(delivery)
      if (heldAt !== undefined) return await this.#park([inFlight], heldAt, 'account')
      if (delivery.attempt === 1) this.#holds.repeats.add(delivery)
      const way = await this.#ways.again(inFlight, place.name)
      if (way.kind === 'failed') return this.#outcomes.finish(delivery, way.outcome, { message })
      // The way may have changed while the delivery waited; it then waits at another place.
      if (way.site !== site || way.place !== place.name || !way.isHere) return await this.#route(inFlight)
      if (place.health.isDown(site)) return this.#outcomes.finish(delivery, siteDown(place, site), { message })
      const sender = { accountId: delivery.accountId, domainId: message.domainId, recipient: delivery.recipient }
      const outcome = await deliver(inFlight, {
        core,
        building: this.#building,
        site,
        workerId,
        route: way.route,
        routes: way.routes,
        source: way.source,
        heloName: way.source?.helo ?? config.heloName,
        returnPathHost: config.returnPathHost,
        memory: this.#memory,
        tls: way.tls,
        onSessionEnded: (host, reply) => this.#places.heardReply(place, sender, { ...reply, host }, false),
        connections: this.#stopping ? { ...connections, keep: (connection) => connection.close() } : connections,
        recordEndOfData: (own, host) => this.#outcomes.recordEndOfData(own, host, message),
      })
      // The address is gone from this host: another worker or source sends it.
      if (way.source && isWithoutAddress(outcome) && !this.#sources.stillHas(way.source))
        return await this.#route(inFlight)
      // A delivery restricted to one host says nothing about the site's other hosts.
      if (outcome && outcome.kind !== 'dropped' && delivery.onlyHost === null) place.heard(site, beginningOf(outcome))
      if (outcome) this.#places.heard(place, sender, outcome, isProbe)
      this.#places.tried(delivery, place.name)
      this.#outcomes.finish(delivery, outcome, { message, place: place.name })
    } catch (error) {
      if (!isDatabaseAway(error)) return this.#outcomes.fault(inFlight.delivery, error, inFlight.message)
      await this.#giveBack.releaseUnoffered(inFlight, error)
    }
  }

  /** Leaves deliveries to the database until their place has capacity. */
  async #park(inFlight: readonly InFlightDelivery[], place: string, waitingFor: WaitingFor): Promise<void> {
    const [ended, others] = [inFlight.filter(hasEnded), inFlight.filter((one) => !hasEnded(one))]
    for (const { delivery, message } of ended) this.#outcomes.finish(delivery, endedWaiting(waitingFor), { message })
    for (const { delivery } of others) this.#places.parked(delivery, place)
    await this.#giveBack.park(others, { place, waitingFor }, (one) => this.#ways.lookWithin(one))
  }

  /**
   * Claims nothing more, releases deliveries that have not started, and resolves when the others have finished, or after `patience`
   * milliseconds. Other workers take over what is still in progress then.
   */
  async drain(patience: number): Promise<void> {
    this.#stopping = true
    clearInterval(this.#looking)
    void this.#sources.leave()
    const deadline = performance.now() + patience
    const unstarted = [...this.#places].flatMap((place) => place.drain())
    if (unstarted.length > 0) await this.#giveBack.release(unstarted, 0)
    let windDownAt = 0
    while (this.#inFlight.count > 0 && performance.now() < deadline) {
      if (performance.now() >= windDownAt) {
        // Other workers need the connections.
        this.#places.windDown()
        windDownAt = performance.now() + LOOK_EVERY_MS
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const own = [this.#places, this.#sources, this.#smartHosts, this.#holds, this.#ways]
    await Promise.all(own.map((one) => one.close()))
    this.#conversations.close()
  }
}
