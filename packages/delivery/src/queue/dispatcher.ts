import {
  type ClaimedDelivery,
  type Config,
  type Core,
  type Flow,
  isDatabaseAway,
  isPerishable,
  type Log,
  type Outcome,
  type Providers,
  type WaitingFor,
} from '@postrider/core'
import { type Building, createBuilding } from '../attempt/building.ts'
import type { Connections } from '../attempt/connections.ts'
import { deliver, type InFlightDelivery } from '../attempt/deliver.ts'
import { hasEnded, isTooLate } from '../attempt/lifetime.ts'
import { AccountHolds } from '../destinations/account-holds.ts'
import type { Backlogged } from '../destinations/backlog.ts'
import { Conversations } from '../destinations/conversations.ts'
import type { Destination } from '../destinations/destination.ts'
import type { RoutedDelivery } from '../destinations/destination-events.ts'
import { Destinations } from '../destinations/destinations.ts'
import { InFlightDeliveries } from '../destinations/in-flight.ts'
import type { NextHops } from '../routing/next-hops.ts'
import { SmartHosts } from '../routing/smart-hosts.ts'
import { WorkerSources } from '../routing/worker-sources.ts'
import { HostMemory } from '../smtp/session.ts'
import { GiveBack } from './give-back.ts'
import { Outcomes } from './outcomes.ts'
import { endedWaiting, isWithoutAddress, siteDown, TOO_LATE } from './own-outcomes.ts'
import type { Recorder } from './recorder.ts'
import { Routes } from './routes.ts'

export interface DispatcherOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly workerId: number
  readonly nextHops: NextHops
  readonly providers: Providers
  readonly recorder: Recorder
  /** Called whenever capacity was freed. */
  readonly onCapacity: () => void
}

/** Milliseconds between checks of the destinations. */
const LOOK_EVERY_MS = 1000

/** Passes claimed deliveries to their destinations and outcomes to the recorder. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #destinations: Destinations
  readonly #conversations = new Conversations()
  readonly #memory = new HostMemory()
  readonly #building: Building
  readonly #inFlight: InFlightDeliveries
  readonly #outcomes: Outcomes
  readonly #giveBack: GiveBack
  readonly #sources: WorkerSources
  readonly #smartHosts: SmartHosts
  readonly #routes: Routes
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
    this.#smartHosts = new SmartHosts({ ...options, onChanged: () => this.#destinations.allowancesChanged() })
    this.#holds = new AccountHolds(options)
    const shared = { ...options, sources: this.#sources, smartHosts: this.#smartHosts, holds: this.#holds }
    this.#destinations = new Destinations({
      ...shared,
      conversations: this.#conversations,
      siteConnections: options.config.siteConnections,
      mainDestination: options.nextHops.mainDestination,
      events: {
        turn: (...turn) => this.#run(...turn),
        blocked: (deliveries, at, waitingFor) => this.#blocked(deliveries, at, waitingFor),
        allowanceSpent: ({ name }, seconds) => this.#sources.noteSpent(name, seconds),
        capacityFreed: options.onCapacity,
      },
    })
    this.#routes = new Routes({ ...shared, destinations: this.#destinations })
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /** To be called before the first {@link take}. */
  async start(): Promise<void> {
    await Promise.all([this.#sources.start(), this.#smartHosts.start(), this.#holds.start(), this.#routes.start()])
    await this.#destinations.start()
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
    return this.#destinations.hasParked
  }

  /** Finds mail that is parked, also by other workers. */
  lookForParked = (): Promise<void> => this.#destinations.look()

  /** The database has no more parked mail of this flow at this destination. */
  parkedIsEmpty(backlogged: Backlogged): void {
    this.#destinations.clear(backlogged)
  }

  /** Parked mail of the next destination that can deliver some now, and how much of each flow may be claimed. */
  *parkedWithCapacity(): Generator<{ readonly backlogged: Backlogged; readonly limit: number }> {
    let given = 0
    const limitOf = (flow: Flow, room: number): number =>
      this.capacity - given >= room ? room : Math.min(room, this.reserveFor(flow, given))
    const mayClaim = (flow: Flow, room: number): boolean => this.mayClaim(flow) && limitOf(flow, room) > 0
    for (const { backlogged, room } of this.#destinations.withCapacity(mayClaim)) {
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
        if (message) this.#inFlight.load(message)
        if (message) this.#routeAll([{ delivery, message, takenAt }])
        else this.#outcomes.fault(delivery, new Error('the message of a queued delivery does not exist'))
      }
    } catch (error) {
      const taken = claimed.map((delivery) => ({ delivery }))
      await this.#giveBack.release(taken, 1)
      throw error
    }
  }

  /** See {@link GiveBack.reconcile}. */
  reconcile = (): Promise<void> => this.#giveBack.reconcile()

  async #route(inFlight: InFlightDelivery): Promise<void> {
    const { delivery, message } = inFlight
    if (delivery.isHeld) return this.#outcomes.finish(delivery, endedWaiting('hold'), inFlight)
    const heldAt = this.#holds.isEmpty ? undefined : await this.#holds.destinationOf(delivery, message)
    if (heldAt !== undefined) return this.#park([inFlight], heldAt, 'account')
    const route = await this.#routes.choose(inFlight)
    if (route.kind === 'failed') return this.#outcomes.finish(delivery, route.outcome, inFlight)
    if (this.#stopping) return this.#giveBack.release([inFlight], 0)
    if (!route.isHere) return this.#park([inFlight], route.destination, route.waitingFor ?? 'source')
    const destination = this.#destinations.named(route.destination)
    const room = this.#destinations.roomFor(delivery, destination)
    const closed = destination.closedFor(delivery) ?? (room > 0 ? undefined : 'connections')
    if (closed) return this.#park([inFlight], destination.name, closed)
    destination.push({ ...inFlight, site: route.site })
  }

  /** The sources have changed: what waits for one that cannot send from here is passed to others. */
  #routeAgain(): void {
    this.#destinations.allowancesChanged()
    for (const destination of this.#destinations) {
      if (destination.waiting === 0 || this.#sources.of(destination.name) === 'here') continue
      this.#routeAll(destination.drain())
    }
    this.#options.onCapacity()
  }

  /** Routing continues in the background. */
  #routeAll(all: Iterable<InFlightDelivery>): void {
    for (const one of all)
      this.#route(one).catch((error: unknown) => this.#outcomes.fault(one.delivery, error, one.message))
  }

  /**
   * A destination whose conversations do not end (a tarpit, a host that never greets) keeps its connections only: the deliveries that wait for
   * it are parked in the database, where they take no capacity from other destinations, until a conversation ends.
   */
  #look(): void {
    let slow = 0
    for (const destination of this.#destinations) {
      slow += destination.progress.slow
      destination.tidy()
      if (destination.waiting > 0 && this.#destinations.stalls(destination))
        void this.#park(destination.drain(), destination.name, 'connections')
    }
    this.#inFlight.slow = slow
    this.#conversations.slow = slow
    if (slow > 0) this.#options.onCapacity()
  }

  async #run(inFlight: RoutedDelivery, destination: Destination, own?: Connections, isProbe = false): Promise<void> {
    try {
      const { core, config, workerId } = this.#options
      const { delivery, message, site } = inFlight
      const finish = (outcome: Outcome): void => this.#outcomes.finish(delivery, outcome, { message })
      if (isPerishable(message.settings) && isTooLate(inFlight)) return finish(TOO_LATE)
      const heldAt = this.#holds.heldAt(delivery, message)
      if (heldAt !== undefined) return await this.#park([inFlight], heldAt, 'account')
      if (delivery.attempt === 1) this.#holds.repeats.add(delivery)
      const route = await this.#routes.again(inFlight, destination.name)
      if (route.kind === 'failed') return finish(route.outcome)
      const { source } = route
      // The route may have changed while the delivery waited; it then waits at another destination.
      const isSame = route.site === site && route.destination === destination.name && route.isHere
      if (!isSame) return await this.#route(inFlight)
      if (!own || destination.health.isDown(site)) {
        const { name } = destination
        if (await this.#destinations.refuses(destination, site)) return await this.#park([inFlight], name, 'pause')
        return this.#outcomes.finish(delivery, siteDown(destination, site), { message, unreached: name })
      }
      const sender = { accountId: delivery.accountId, domainId: message.domainId, recipient: delivery.recipient }
      const outcome = await deliver(inFlight, {
        core,
        building: this.#building,
        site,
        workerId,
        nextHop: route.nextHop,
        nextHops: route.nextHops,
        source,
        heloName: source?.helo ?? config.heloName,
        returnPathHost: config.returnPathHost,
        memory: this.#memory,
        tls: route.tls,
        onSessionEnded: (host, reply) => this.#destinations.heardReply(destination, sender, { ...reply, host }),
        connections: this.#stopping ? { ...own, keep: (connection) => connection.close() } : own,
        recordEndOfData: (own, host) => this.#outcomes.recordEndOfData(own, host, message),
      })
      // The address is gone from this host: another worker or source sends it.
      if (source && isWithoutAddress(outcome) && !this.#sources.stillHas(source)) return await this.#route(inFlight)
      if (outcome && (await this.#destinations.heard({ destination, inFlight, own, sender, outcome, isProbe })))
        return await this.#park([inFlight], destination.name, 'connections')
      this.#destinations.tried(delivery, destination.name)
      this.#outcomes.finish(delivery, outcome, { message, destination: destination.name })
    } catch (error) {
      if (!isDatabaseAway(error)) return this.#outcomes.fault(inFlight.delivery, error, inFlight.message)
      await this.#giveBack.releaseUnoffered(inFlight, error)
    }
  }

  /** Another source, or a smart host, may send what a destination does not take now. Of mail that is too much for it, this would be repeated. */
  #blocked(deliveries: readonly RoutedDelivery[], { name }: Destination, waitingFor: WaitingFor): void {
    const mayGoElsewhere = waitingFor === 'warm-up' || !this.#smartHosts.isEmpty
    if (mayGoElsewhere && waitingFor !== 'connections') this.#routeAll(deliveries)
    else void this.#park(deliveries, name, waitingFor)
  }

  /** Leaves deliveries to the database until their destination has capacity. */
  async #park(inFlight: readonly InFlightDelivery[], destination: string, waitingFor: WaitingFor): Promise<void> {
    const [ended, others] = [inFlight.filter(hasEnded), inFlight.filter((one) => !hasEnded(one))]
    for (const { delivery, message } of ended) this.#outcomes.finish(delivery, endedWaiting(waitingFor), { message })
    for (const { delivery } of others) this.#destinations.parked(delivery, destination)
    await this.#giveBack.park(others, { place: destination, waitingFor }, (one) => this.#routes.lookWithin(one))
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
    const unstarted = [...this.#destinations].flatMap((destination) => destination.drain())
    if (unstarted.length > 0) await this.#giveBack.release(unstarted, 0)
    let windDownAt = 0
    while (this.#inFlight.count > 0 && performance.now() < deadline) {
      if (performance.now() >= windDownAt) {
        // Other workers need the connections.
        this.#destinations.windDown()
        windDownAt = performance.now() + LOOK_EVERY_MS
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const own = [this.#destinations, this.#sources, this.#smartHosts, this.#holds, this.#routes]
    await Promise.all(own.map((one) => one.close()))
    this.#conversations.close()
  }
}
