import { type Allowance, BULK, type Flow, partsOfPlace, type Reply, type Stage, type WaitingFor } from '@postrider/core'
import { FairQueue } from '../common/fair-queue.ts'
import { siteOfSessions } from '../tls/policy.ts'
import { AcceptedConversations } from './accepted-conversations.ts'
import { DestinationConnections } from './connections/destination-connections.ts'
import type { Slots } from './connections/slots.ts'
import type { Conversations } from './conversations.ts'
import type { DestinationEvents, RoutedDelivery } from './destination-events.ts'
import type { WorkerLimits } from './limits.ts'
import { Progress } from './progress.ts'
import { RateGate, type TakeFromRates } from './rate-gate.ts'
import { RecentOffers } from './recent-offers.ts'
import { RecentTries } from './recent-tries.ts'
import { beginningOf, type Refused, SiteHealth } from './site-health.ts'

/** Milliseconds after which a destination goes on although refusals could not be counted. */
const HOLD_MS = 2000

export interface DestinationOptions {
  readonly name: string
  readonly limits: WorkerLimits
  readonly conversations: Conversations
  readonly slots: Slots
  readonly events: DestinationEvents<Destination>
  readonly takeFromRates: TakeFromRates
  /** How many deliveries may wait at a destination if this worker has all connections to it. */
  readonly maxWaiting: (limits: WorkerLimits) => number
}

/**
 * The unit that limits of connections apply to: a site (the domains with the same MX hosts), or a mailbox provider with all its sites, as seen from
 * one source; or a smart host. It has its own queue and connections, so that a slow or dead one does not delay others. Flows take turns on its
 * connections, and bulk mail leaves one of them to others.
 */
export class Destination {
  readonly name: string
  /** The provider or site. */
  readonly base: string
  readonly health = new SiteHealth()
  readonly recent = new RecentTries()
  readonly offers = new RecentOffers()
  readonly #options: DestinationOptions
  readonly #waiting = new FairQueue<RoutedDelivery>()
  readonly connections: DestinationConnections
  readonly #gate: RateGate
  #limits: WorkerLimits
  /** Deliveries that may be tried during a pause, and accounts of which one may be tried while their mail is paused. */
  #probes = 0
  readonly #probedAccounts = new Set<number>()
  /** The site of the last delivery, and whether there are others: an idle session serves only its own site. */
  #site: string | undefined
  #isMixed = false
  /** Nothing is started until then: refusals are being counted. */
  #holds = 0
  #heldUntil = 0
  readonly #accepted: AcceptedConversations
  readonly progress = new Progress()
  #activeBulk = 0

  constructor(options: DestinationOptions) {
    const { name, slots, limits, takeFromRates, events } = options
    this.name = name
    this.base = partsOfPlace(name).base
    this.#options = options
    this.#limits = limits
    this.#accepted = new AcceptedConversations(limits.connections)
    const onAnswer = (): void => {
      this.start()
      this.#parkClosed()
      this.#parkExcess()
      if (this.#waiting.length === 0) events.capacityFreed()
    }
    this.#gate = new RateGate({
      destination: name,
      takeFromRates,
      onAnswer,
      onSpent: (seconds) => events.allowanceSpent(this, seconds),
    })
    this.#gate.rates = limits
    this.connections = new DestinationConnections({ destination: name, slots, onAnswer, limits: () => this.#limits })
  }

  get limits(): WorkerLimits {
    return this.#limits
  }

  set limits(limits: WorkerLimits) {
    const { connections, isPaused } = this.#limits
    this.#limits = limits
    if (limits.isPaused && !isPaused) this.#probes = 0
    this.#gate.rates = limits
    if (limits.connections > connections) this.#accepted.reset(limits.connections)
    this.connections.tidy()
    this.#parkClosed()
    this.start()
    this.#options.events.capacityFreed()
  }

  /** Number of waiting deliveries that have not started. */
  get waiting(): number {
    return this.#waiting.length
  }

  waitingOf(flow: Flow): number {
    return this.#waiting.countOf(flow)
  }

  /** Number of flows that have deliveries waiting here, with this one. */
  flowsWith(flow: Flow): number {
    return this.#waiting.flows + (this.#waiting.countOf(flow) > 0 ? 0 : 1)
  }

  /** Whether this worker has no connection slot of it, and asks for none. */
  get hasNoSlots(): boolean {
    return this.connections.isEmpty
  }

  get isIdle(): boolean {
    return this.progress.count === 0 && this.#waiting.length === 0 && this.connections.held === 0
  }

  /** Whether mail of some account can be started. */
  get isOpen(): boolean {
    return this.#closedForAll === undefined
  }

  get #closedForAll(): WaitingFor | undefined {
    if (this.#limits.isPaused && this.#probes === 0) return 'pause'
    return this.#gate.closedBy ?? (this.connections.isExhausted ? 'connections' : undefined)
  }

  /** Why no delivery of this flow can be started now and for some time; undefined if one can. */
  closedFor({ accountId }: Flow): WaitingFor | undefined {
    return this.#isPausedFor(accountId) ? 'pause' : this.#closedForAll
  }

  #isPausedFor(accountId: number): boolean {
    return this.#limits.pausedAccounts.has(accountId) && !this.#probedAccounts.has(accountId)
  }

  /** How many deliveries of a flow can be started at once at most, apart from the limit of connections. */
  passesFor({ accountId }: Flow): number {
    if (this.#limits.isPaused) return this.#probes
    if (this.#limits.pausedAccounts.has(accountId)) return this.#probedAccounts.has(accountId) ? 1 : 0
    return this.#gate.hasRate ? 1 : Number.POSITIVE_INFINITY
  }

  /** Lets one delivery be tried although the destination is paused: for all mail, or for that of an account. */
  probe(accountId: number | null): void {
    if (accountId === null) this.#probes = 1
    else this.#probedAccounts.add(accountId)
  }

  /** Starts nothing until {@link goOn} was called as often, or for two seconds. */
  hold(): void {
    this.#holds++
    this.#heldUntil = performance.now() + HOLD_MS
  }

  goOn(): void {
    this.#holds--
    this.start()
  }

  /** Parks what waits here and cannot be started for some time. */
  #parkClosed(): void {
    if (this.#waiting.length === 0 || (this.isOpen && this.#limits.pausedAccounts.size === 0)) return
    for (const [waitingFor, deliveries] of Map.groupBy(this.#waiting.drain(), (one) => this.closedFor(one.delivery))) {
      if (waitingFor) this.#options.events.blocked(deliveries, this, waitingFor)
      else for (const one of deliveries) this.#waiting.push(one.delivery, one)
    }
  }

  /** Whether parked mail can be started; if it lacks a connection, one is requested. */
  isReady(): boolean {
    if (!this.#gate.isOpen()) return false
    if (this.connections.held > 0) return true
    this.connections.ask(1)
    return false
  }

  /**
   * Reports how a conversation with a site began. If other conversations are in progress, a rejection means too many connections (many hosts allow
   * few), and one less is used. If there are none, or if one of a provider's sites is unreachable or rejects all, it concerns it, as does a lack of TLS.
   */
  heard(site: string, outcome: { readonly stage: Stage; readonly reply: Reply }, refused: Refused): void {
    const beginning = beginningOf(outcome)
    if (beginning === 'session') {
      this.health.accepted(site)
      if (this.#accepted.succeeded(this.#limits.connections)) this.start()
      return
    }
    const isOwn = beginning === 'refused' || (beginning === 'unreachable' && siteOfSessions(site) === this.base)
    const isExcess = this.progress.count > 1 && isOwn && refused !== 'of-site'
    this.#accepted.failed(isExcess ? this.progress.count - 1 : undefined)
    if (!isExcess && refused !== 'too-many') this.health.failed(site, beginning, outcome.reply)
  }

  push(inFlight: RoutedDelivery): void {
    if (this.#passes(inFlight)) return
    this.#isMixed ||= this.#site !== undefined && this.#site !== inFlight.site
    this.#site = inFlight.site
    this.#waiting.push(inFlight.delivery, inFlight)
    this.start()
  }

  /** A delivery to a site that is down needs no connection: it would take that of an idle session with another one. */
  #passes(inFlight: RoutedDelivery): boolean {
    const isDown = this.health.isDown(inFlight.site)
    if (isDown) void this.#options.events.turn(inFlight, this, undefined, false)
    return isDown
  }

  /** Removes and returns the deliveries that have not started. */
  drain(): RoutedDelivery[] {
    return this.#waiting.drain()
  }

  /** How many deliveries may wait here: this worker's share, by its connections. Others deliver what it leaves in the database. */
  get maxWaiting(): number {
    const { held } = this.connections
    const all = this.#options.maxWaiting(this.#limits)
    return held === 0 ? all : Math.ceil((all * Math.min(held, this.#limits.connections)) / this.#limits.connections)
  }

  /** Parks what was claimed before it was known that other workers have most of the connections. */
  #parkExcess(): void {
    if (this.#waiting.length <= this.maxWaiting) return
    const kept = Array.from({ length: this.maxWaiting }, () => this.#waiting.shift(() => true) as RoutedDelivery)
    this.#options.events.blocked(this.#waiting.drain(), this, 'connections')
    for (const one of kept) this.#waiting.push(one.delivery, one)
  }

  /** Starts as many conversations as may be started. */
  start(): void {
    const { conversations } = this.#options
    let tooMany = false
    const mayStart = (flow: Flow): boolean => {
      if (this.#isPausedFor(flow.accountId) || !this.#hasConnectionFor(flow)) return false
      const may = conversations.mayStart(flow)
      tooMany ||= !may
      return may
    }
    while (this.#waiting.length > 0 && this.progress.count < this.#limit && this.#mayStartNow()) {
      const idle = this.#isMixed ? 0 : this.connections.idle
      this.connections.ask(Math.min(this.#waiting.length, this.#limit - this.progress.count) - idle)
      if (!this.connections.hasFree) break
      const next = this.#waiting.shift(mayStart)
      if (!next) break
      if (this.#passes(next)) continue
      const isProbe = this.#limits.isPaused || this.#limits.pausedAccounts.has(next.delivery.accountId)
      if (this.#limits.isPaused) this.#probes--
      this.#probedAccounts.delete(next.delivery.accountId)
      void this.#converse(next, isProbe, this.#gate.pass())
    }
    if (tooMany) conversations.wait(this)
  }

  #mayStartNow(): boolean {
    if (this.#holds > 0 && performance.now() < this.#heldUntil) return false
    return (!this.#limits.isPaused || this.#probes > 0) && this.#gate.isOpen()
  }

  get #limit(): number {
    return this.#accepted.within(this.#limits.connections, this.offers.isSuspect)
  }

  #hasConnectionFor(flow: Flow): boolean {
    // Of those of this worker, since it does not know what others do.
    const own = Math.min(this.#limit, this.connections.held)
    return flow.class !== BULK || own <= 1 || this.#activeBulk < own - 1
  }

  async #converse(inFlight: RoutedDelivery, isProbe: boolean, allowance: Allowance | undefined): Promise<void> {
    const { delivery } = inFlight
    const { conversations, events } = this.#options
    const [bulk, running] = [delivery.class === BULK ? 1 : 0, this.progress.begin()]
    this.#activeBulk += bulk
    conversations.enter(delivery)
    const use = this.connections.use(inFlight.site, (own) => events.turn(inFlight, this, own, isProbe))
    if (!(await use)) allowance?.giveBack()
    this.progress.end(running)
    this.#activeBulk -= bulk
    conversations.leave(delivery)
    this.start()
  }

  /** To be called every second. */
  tidy(): void {
    this.connections.tidy()
    this.#parkClosed()
    this.start()
  }

  close(): void {
    this.connections.close()
  }
}
