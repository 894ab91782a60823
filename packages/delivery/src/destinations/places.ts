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
import type { AccountHolds } from '../queue/account-holds.ts'
import { Backlog, type Backlogged } from '../queue/backlog.ts'
import { FlowTries } from '../queue/flow-tries.ts'
import { MAX_IN_FLIGHT } from '../queue/in-flight.ts'
import type { SmartHosts } from '../routing/smart-hosts.ts'
import type { WorkerSources } from '../routing/worker-sources.ts'
import { BackOff } from './back-off.ts'
import { Limits } from './limits.ts'
import { Place, type PlaceOptions } from './place.ts'
import { Slots } from './slots.ts'

/** Waiting deliveries per connection of a place; above this number its mail is parked. Flows share it. */
const WAITING_PER_CONNECTION = 8
const MAX_PLACES = 20_000
/** Milliseconds between two searches for places to forget: each looks at all of them. */
const FORGET_EVERY_MS = 1000
/** Milliseconds that servers have to close their connections when this worker stops, and between two checks of it. */
const CLOSE_MS = 2000
const CLOSE_CHECK_MS = 10
/** Flows of a place whose parked mail is claimed at once. */
const AT_ONCE = 64
/** Deliveries of a flow that are passed to another source at once. */
const MOVED_AT_ONCE = 50

export interface PlacesOptions
  extends Omit<PlaceOptions, 'name' | 'limits' | 'slots' | 'takeFromRates' | 'onSpent' | 'maxWaiting'> {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly providers: Providers
  /** Connections of all workers to a site that belongs to none of the providers. */
  readonly siteConnections: number
  readonly sources: WorkerSources
  readonly smartHosts: SmartHosts
  readonly holds: AccountHolds
  /** The place that all mail goes to, except that of simulated providers; undefined if mail goes to many. */
  readonly mainPlace: string | undefined
}

/** The places that this worker delivers to, and their parked mail. */
export class Places {
  readonly #options: PlacesOptions
  readonly #places = new Map<string, Place>()
  readonly #backlog = new Backlog()
  readonly #slots: Slots
  readonly #limits: Limits
  readonly #backOff: BackOff
  readonly #tries: FlowTries
  #after: ParkedFlow | undefined
  #forgotAt = Number.NEGATIVE_INFINITY

  constructor(options: PlacesOptions) {
    this.#options = options
    this.#slots = new Slots(options)
    this.#tries = new FlowTries(options)
    this.#limits = new Limits({
      ...options,
      onChanged: (names) => this.#apply(names),
      onProbeDue: (pause) => void this.#probe(pause),
    })
    this.#backOff = new BackOff({ ...options, limits: this.#limits })
  }

  /** Reads the limits, and reads them again whenever they change. */
  async start(): Promise<void> {
    await this.#limits.read()
    await this.#limits.listen()
  }

  /** See {@link BackOff.heard}. */
  heard(...heard: Parameters<BackOff['heard']>): void {
    this.#backOff.heard(...heard)
  }

  /** See {@link BackOff.heardReply}. */
  heardReply(...heard: Parameters<BackOff['heardReply']>): void {
    this.#backOff.heardReply(...heard)
  }

  #apply(names: ReadonlySet<string>): void {
    if (names.size === 0) return
    for (const place of this) {
      // Limits of a provider may concern its places of all sources.
      if (names.has(place.name) || names.has(place.base)) place.limits = this.#limits.of(place.name)
    }
  }

  /** One worker with mail for the place tries one delivery. */
  async #probe({ place: name }: Override): Promise<void> {
    if (!this.#backlog.has(name)) return
    const { core, log, onCapacity } = this.#options
    if (!(await core.deliveries.limits.takeProbe(name).catch(() => false))) return
    log.info({ place: name }, 'one delivery is tried during the pause of this provider')
    this.named(name).probe()
    onCapacity()
  }

  /** Sources or smart hosts have changed, and with them the allowances of those that have some. */
  allowancesChanged(): void {
    const { sources, smartHosts } = this.#options
    for (const place of this) {
      // Most places have none, and there may be many.
      const had = place.limits.warmUp.length + place.limits.perDay.length > 0
      const has = had || sources.warmUpOf(place.name).length + smartHosts.allowancesOf(place.name).length > 0
      if (has) place.limits = this.#limits.of(place.name)
    }
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#places.values()
  }

  named(name: string): Place {
    const known = this.#places.get(name)
    if (known) return known
    if (this.#places.size >= MAX_PLACES) this.#forgetIdle()
    const place = new Place({
      ...this.#options,
      name,
      limits: this.#limits.of(name),
      slots: this.#slots,
      takeFromRates: (rates) => this.#options.core.rateLimits.take(rates),
      onSpent: ({ name }, seconds) => this.#options.sources.noteSpent(name, seconds),
      maxWaiting: ({ connections }) =>
        partsOfPlace(name).base === this.#options.mainPlace ? MAX_IN_FLIGHT : connections * WAITING_PER_CONNECTION,
    })
    this.#places.set(name, place)
    return place
  }

  get hasParked(): boolean {
    return !this.#backlog.isEmpty
  }

  /** The flow has mail parked there. */
  parked(flow: Flow, place: string): void {
    const responsibility = this.#options.sources.of(place)
    // Held mail must not keep this worker from finding what it may send; it is found again each second.
    if (isHeldPlace(place) && this.#options.holds.roomFor(flow, place) === 0) return
    // This worker must not look again and again at mail of a source that cannot send.
    if (responsibility === 'here' || responsibility === 'move') this.#backlog.add(flow, place)
  }

  /** A delivery was tried at a place. */
  tried(flow: Flow, place: string): void {
    if (this.#backlog.has(place)) this.#tries.add(flow, place)
  }

  /** The database has no more parked mail of this flow there. */
  clear(backlogged: Backlogged): void {
    this.#backlog.remove(backlogged)
  }

  /** Parked mail of the next place with capacity for flows that may be claimed (`room`: how much of one it has capacity for). */
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
        this.#backlog.removePlace(name)
        return false
      }
      const place = this.named(name)
      return place.isOpen && !this.stalls(place) && place.isReady()
    }
    const roomOf = ({ flow, place: name }: Backlogged): number => {
      if (isHeldPlace(name)) return this.#heldRoom(flow, name)
      if (sources.of(name) !== 'here') return MOVED_AT_ONCE
      const place = this.named(name)
      if (place.closedFor(flow) || place.waitingOf(flow) > this.#mostOf(place, flow) / 2) return 0
      return Math.min(this.roomFor(flow, place), place.passes)
    }
    const isWanted = (one: Backlogged): boolean => {
      const room = roomOf(one)
      return room > 0 && mayClaim(one.flow, room)
    }
    for (const backlogged of this.#backlog.next(AT_ONCE, isOpen, isWanted))
      yield { backlogged, room: roomOf(backlogged) }
  }

  #heldRoom(flow: Flow, place: string): number {
    const room = this.#options.holds.roomFor(flow, place)
    if (room === 0) this.#backlog.remove({ flow, place })
    return room
  }

  /** For how many milliseconds back-off rules have paused a place for this mail; 0 if they have not. */
  pausedByRule(place: string, { accountId }: Flow): number {
    const pauses = this.#limits
      .overridesOf(place)
      .filter((one) => one.setting === 'pause' && one.rule !== OPERATOR_RULE)
      .filter((one) => one.accountId === null || one.accountId === accountId)
    return Math.max(0, ...pauses.map(({ left }) => left))
  }

  /** How many more deliveries of a flow may wait at a place. */
  roomFor(flow: Flow, place: Place): number {
    return this.stalls(place) ? 0 : this.#mostOf(place, flow) - place.waitingOf(flow)
  }

  /** The flow's share, and at least one while there are not too many flows. */
  #mostOf(place: Place, flow: Flow): number {
    const all = place.maxWaiting
    const flows = place.flowsWith(flow)
    return flows > 2 * all ? 0 : Math.max(1, Math.floor(all / flows))
  }

  /** Its conversations do not end. If all mail goes to one place, there are no others that need capacity. */
  stalls(place: Place): boolean {
    return place.progress.isStalled && place.base !== this.#options.mainPlace
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
    while ([...this].some((place) => !place.hasNoSlots) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, CLOSE_CHECK_MS))
      this.windDown()
    }
    await Promise.all([this.#limits.close(), this.#slots.close(), this.#tries.flush()])
  }

  /** Closes idle sessions and frees what is not in use: this worker stops. */
  windDown(): void {
    for (const place of this) place.close()
  }

  #forgetIdle(): void {
    if (performance.now() - this.#forgotAt < FORGET_EVERY_MS) return
    this.#forgotAt = performance.now()
    for (const [name, place] of this.#places) if (place.isIdle) this.#places.delete(name)
  }
}
