import {
  type Core,
  type Flow,
  hasMoreParked,
  isHeldPlace,
  type Log,
  OPERATOR_RULE,
  type Override,
  type ParkedFlow,
  type Providers,
  partsOfPlace,
} from '@postrider/core'
import type { SmartHosts } from '../routing/smart-hosts.ts'
import type { WorkerSources } from '../routing/worker-sources.ts'
import type { AccountHolds } from './account-holds.ts'
import { BackOff, type ServerReply } from './back-off.ts'
import { Backlog, type Backlogged } from './backlog.ts'
import { Slots } from './connections/slots.ts'
import { Destination, type DestinationOptions } from './destination.ts'
import type { Sender, Tried } from './destination-events.ts'
import { FlowTries } from './flow-tries.ts'
import { MAX_IN_FLIGHT } from './in-flight.ts'
import { Limits } from './limits.ts'
import { Recovery } from './recovery.ts'
import { Refusals } from './refusals.ts'
import { RefusedSessions } from './refused-sessions.ts'
import { beginningOf, isOfSite } from './site-health.ts'

/** Waiting deliveries per connection of a destination; above this number its mail is parked. Flows share it. */
const WAITING_PER_CONNECTION = 8
const MAX_DESTINATIONS = 20_000
/** Milliseconds between two searches for destinations to forget: each looks at all of them. */
const FORGET_EVERY_MS = 1000
/** Milliseconds that servers have to close their connections when this worker stops, and between two checks of it. */
const CLOSE_MS = 2000
const CLOSE_CHECK_MS = 10
/** Flows of a destination whose parked mail is claimed at once. */
const AT_ONCE = 64
/** Deliveries of a flow that are passed to another source at once. */
const MOVED_AT_ONCE = 50

export interface DestinationsOptions
  extends Omit<DestinationOptions, 'name' | 'limits' | 'slots' | 'takeFromRates' | 'maxWaiting'> {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly providers: Providers
  /** Connections of all workers to a site that belongs to none of the providers. */
  readonly siteConnections: number
  readonly sources: WorkerSources
  readonly smartHosts: SmartHosts
  readonly holds: AccountHolds
  /** The destination that all mail goes to, except that of simulated providers; undefined if mail goes to many. */
  readonly mainDestination: string | undefined
}

/** The destinations that this worker delivers to, and their parked mail. */
export class Destinations {
  readonly #options: DestinationsOptions
  readonly #destinations = new Map<string, Destination>()
  readonly #backlog = new Backlog()
  readonly #slots: Slots
  readonly #limits: Limits
  readonly #backOff: BackOff
  readonly #recovery: Recovery
  readonly #refusedSessions: RefusedSessions
  readonly #refusals: Refusals
  readonly #tries: FlowTries
  #after: ParkedFlow | undefined
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(options: DestinationsOptions) {
    this.#options = options
    this.#slots = new Slots(options)
    this.#tries = new FlowTries(options)
    this.#limits = new Limits({
      ...options,
      onChanged: (names) => this.#apply(names),
      onProbeDue: (pause) => void this.#probe(pause),
    })
    this.#backOff = new BackOff({ ...options, limits: this.#limits })
    this.#recovery = new Recovery(options)
    this.#refusedSessions = new RefusedSessions(options)
    this.#refusals = new Refusals(options)
  }

  /** Reads the limits, and reads them again whenever they change. */
  async start(): Promise<void> {
    await this.#limits.read()
    await this.#limits.listen()
  }

  /**
   * Learns from the outcome of an attempt; see {@link BackOff.heard}, {@link Recovery} and {@link Refusals}. Returns whether its session was
   * one too many: the delivery waits for another.
   */
  async heard({ destination, inFlight, own, sender, outcome, isProbe }: Tried<Destination>): Promise<boolean> {
    const isOwn = isOfSite(inFlight.delivery, outcome)
    const refused = isOwn ? await this.#refusedSessions.judge(destination, inFlight.site, outcome) : undefined
    const isTooMany = refused === 'too-many'
    if (isTooMany) own.giveUp()
    if (isOwn) destination.heard(inFlight.site, outcome, refused)
    if (outcome.kind !== 'dropped' && !isTooMany) this.#recovery.note(destination.name, beginningOf(outcome))
    this.#refusals.add(destination.name, sender, outcome)
    this.#backOff.heard(destination, sender, outcome, { isProbe, isTooMany })
    return isTooMany
  }

  /** See {@link Blocks.refusesSessions}. */
  refuses(destination: Destination, site: string): Promise<boolean> {
    return this.#backOff.refusesSessions(destination, site)
  }

  /** See {@link BackOff.heardReply}. */
  heardReply(destination: Destination, sender: Sender, reply: ServerReply): void {
    this.#backOff.heardReply(destination, sender, reply, { isProbe: false, isTooMany: false })
  }

  #apply(names: ReadonlySet<string>): void {
    if (names.size === 0) return
    for (const destination of this) {
      // Limits of a provider may concern its destinations of all sources.
      if (names.has(destination.name) || names.has(destination.base))
        destination.limits = this.#limits.of(destination.name)
    }
  }

  /** One worker with mail for the destination tries one delivery. */
  async #probe({ place: name }: Override): Promise<void> {
    if (!this.#backlog.has(name)) return
    const { core, log, events } = this.#options
    const probes = await core.deliveries.limits.takeProbe(name).catch(() => [])
    if (probes.length === 0) return
    log.info({ place: name }, 'one delivery is tried during the pause of this provider')
    for (const accountId of probes) this.named(name).probe(accountId)
    events.capacityFreed()
  }

  /** Sources or smart hosts have changed, and with them the allowances of those that have some. */
  allowancesChanged(): void {
    const { sources, smartHosts } = this.#options
    for (const destination of this) {
      // Most destinations have none, and there may be many.
      const had = destination.limits.warmUp.length + destination.limits.perDay.length > 0
      const has =
        had || sources.warmUpOf(destination.name).length + smartHosts.allowancesOf(destination.name).length > 0
      if (has) destination.limits = this.#limits.of(destination.name)
    }
  }

  [Symbol.iterator](): Iterator<Destination> {
    return this.#destinations.values()
  }

  named(name: string): Destination {
    const known = this.#destinations.get(name)
    if (known) return known
    if (this.#destinations.size >= MAX_DESTINATIONS) this.#forgetIdle()
    const destination = new Destination({
      ...this.#options,
      name,
      limits: this.#limits.of(name),
      slots: this.#slots,
      takeFromRates: (rates) => this.#options.core.rateLimits.takeReturnable(rates),
      maxWaiting: ({ connections }) =>
        partsOfPlace(name).base === this.#options.mainDestination
          ? MAX_IN_FLIGHT
          : connections * WAITING_PER_CONNECTION,
    })
    this.#destinations.set(name, destination)
    return destination
  }

  get hasParked(): boolean {
    return !this.#backlog.isEmpty
  }

  /** The flow has mail parked there. */
  parked(flow: Flow, destination: string): void {
    const responsibility = this.#options.sources.of(destination)
    // Held mail must not keep this worker from finding what it may send; it is found again each second.
    if (isHeldPlace(destination) && this.#options.holds.roomFor(flow, destination) === 0) return
    // This worker must not look again and again at mail of a source that cannot send.
    if (responsibility === 'here' || responsibility === 'move') this.#backlog.add(flow, destination)
  }

  /** A delivery was tried at a destination. */
  tried(flow: Flow, destination: string): void {
    if (this.#backlog.has(destination)) this.#tries.add(flow, destination)
  }

  /** The database has no more parked mail of this flow there. */
  clear(backlogged: Backlogged): void {
    this.#backlog.remove(backlogged)
  }

  /** Parked mail of the next destination with capacity for flows that may be claimed (`room`: how much of one it has capacity for). */
  *withCapacity(
    mayClaim: (flow: Flow, room: number) => boolean,
  ): Generator<{ readonly backlogged: Backlogged; readonly room: number }> {
    const { sources } = this.#options
    const isOpen = (name: string): boolean => {
      if (isHeldPlace(name)) return true
      const responsibility = sources.of(name)
      if (responsibility === 'move') return true
      if (responsibility !== 'here') {
        // It is found again when that changes.
        this.#backlog.removeDestination(name)
        return false
      }
      const destination = this.named(name)
      return destination.isOpen && !this.stalls(destination) && destination.isReady()
    }
    const roomOf = ({ flow, destination: name }: Backlogged): number => {
      if (isHeldPlace(name)) return this.#heldRoom(flow, name)
      if (sources.of(name) !== 'here') return MOVED_AT_ONCE
      const destination = this.named(name)
      if (destination.closedFor(flow) || destination.waitingOf(flow) > this.#mostOf(destination, flow) / 2) return 0
      return Math.min(this.roomFor(flow, destination), destination.passesFor(flow))
    }
    const isWanted = (one: Backlogged): boolean => {
      const room = roomOf(one)
      return room > 0 && mayClaim(one.flow, room)
    }
    for (const backlogged of this.#backlog.next(AT_ONCE, isOpen, isWanted))
      yield { backlogged, room: roomOf(backlogged) }
  }

  #heldRoom(flow: Flow, destination: string): number {
    const room = this.#options.holds.roomFor(flow, destination)
    if (room === 0) this.#backlog.remove({ flow, destination })
    return room
  }

  /** For how many milliseconds back-off rules have paused a destination for this mail; 0 if they have not. */
  pausedByRule(destination: string, { accountId }: Flow): number {
    const pauses = this.#limits
      .overridesOf(destination)
      .filter((one) => one.setting === 'pause' && one.rule !== OPERATOR_RULE)
      .filter((one) => one.accountId === null || one.accountId === accountId)
    return Math.max(0, ...pauses.map(({ left }) => left))
  }

  /** How many more deliveries of a flow may wait at a destination. */
  roomFor(flow: Flow, destination: Destination): number {
    return this.stalls(destination) ? 0 : this.#mostOf(destination, flow) - destination.waitingOf(flow)
  }

  /** The flow's share, and at least one while there are not too many flows. */
  #mostOf(destination: Destination, flow: Flow): number {
    const all = destination.maxWaiting
    const flows = destination.flowsWith(flow)
    return flows > 2 * all ? 0 : Math.max(1, Math.floor(all / flows))
  }

  /** Its conversations do not end. If all mail goes to one destination, there are no others that need capacity. */
  stalls(destination: Destination): boolean {
    return destination.progress.isStalled && destination.base !== this.#options.mainDestination
  }

  /** Finds parked mail, also of workers that are gone. To be called every second. */
  async look(): Promise<void> {
    const found = await this.#options.core.deliveries.parkedFlows(this.#after)
    this.#after = hasMoreParked(found) ? found.at(-1) : undefined
    for (const flow of found) this.parked(flow, flow.place)
  }

  /**
   * Closes all connections and frees their slots, so that other workers need not look for them. Servers have two seconds to close theirs:
   * a slot that is free before its connection is closed would be one too many.
   */
  async close(): Promise<void> {
    const deadline = performance.now() + CLOSE_MS
    this.windDown()
    while ([...this].some((destination) => !destination.hasNoSlots) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, CLOSE_CHECK_MS))
      this.windDown()
    }
    this.#recovery.close()
    await Promise.all([this.#limits.close(), this.#slots.close(), this.#tries.flush(), this.#refusals.flush()])
  }

  /** Closes idle sessions and frees what is not in use: this worker stops. */
  windDown(): void {
    for (const destination of this) destination.close()
  }

  #forgetIdle(): void {
    if (performance.now() - this.#forgotAt < FORGET_EVERY_MS) return
    this.#forgotAt = performance.now()
    for (const [name, destination] of this.#destinations) if (destination.isIdle) this.#destinations.delete(name)
  }
}
