import {
  type Core,
  type Flow,
  hasMoreParked,
  type Log,
  type Override,
  type ParkedFlow,
  type Providers,
} from '@postrider/core'
import { BackOff } from './back-off.ts'
import { Backlog, type Backlogged } from './backlog.ts'
import { MAX_IN_FLIGHT } from './in-flight.ts'
import { Limits } from './limits.ts'
import { Place, type PlaceOptions } from './place.ts'
import { Slots } from './slots.ts'

/** Waiting deliveries per connection of a place; above this number its mail is parked. Flows share it. */
const WAITING_PER_CONNECTION = 8
const PLACES_KEPT = 20_000
/** Flows of places whose parked mail is claimed before due mail is claimed again. */
const AT_ONCE = 64

export interface PlacesOptions extends Omit<PlaceOptions, 'name' | 'limits' | 'slots' | 'takeFromRate' | 'maxWaiting'> {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly providers: Providers
  /** Connections of all workers to a site that belongs to none of the providers. */
  readonly siteConnections: number
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
  #after: ParkedFlow | undefined

  constructor(options: PlacesOptions) {
    this.#options = options
    this.#slots = new Slots(options)
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

  #apply(names: Iterable<string>): void {
    for (const name of names) {
      const place = this.#places.get(name)
      if (place) place.limits = this.#limits.of(name)
    }
  }

  /** One worker with mail for the place tries one delivery. */
  async #probe({ id, place: name }: Override): Promise<void> {
    const place = this.#places.get(name)
    if (!place || !this.#backlog.has(place)) return
    const { core, log, onCapacity } = this.#options
    if (!(await core.deliveries.limits.takeProbe(id).catch(() => false))) return
    log.info({ place: name }, 'one delivery is tried during the pause of this provider')
    place.probe()
    onCapacity()
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#places.values()
  }

  named(name: string): Place {
    const known = this.#places.get(name)
    if (known) return known
    if (this.#places.size >= PLACES_KEPT) this.#forgetIdle()
    const place = new Place({
      ...this.#options,
      name,
      limits: this.#limits.of(name),
      slots: this.#slots,
      takeFromRate: (rate) => this.#options.core.rateLimits.take([rate]),
      maxWaiting: ({ connections }) =>
        name === this.#options.mainPlace ? MAX_IN_FLIGHT : connections * WAITING_PER_CONNECTION,
    })
    this.#places.set(name, place)
    return place
  }

  get hasParked(): boolean {
    return !this.#backlog.isEmpty
  }

  /** The flow has mail parked there. */
  parked(flow: Flow, place: Place): void {
    this.#backlog.add(flow, place)
  }

  /** The database has no more parked mail of this flow there. */
  clear(backlogged: Backlogged): void {
    this.#backlog.remove(backlogged)
  }

  /** Parked mail that can be delivered now, and how much of it the places have capacity for. */
  *withCapacity(): Generator<{ readonly backlogged: Backlogged; readonly room: number }> {
    const hasCapacity = ({ flow, place }: Backlogged): boolean =>
      place.closedFor(flow) === undefined &&
      place.waitingOf(flow) <= this.#mostOf(place, flow) / 2 &&
      !this.stalls(place) &&
      place.isReady()
    for (const backlogged of this.#backlog.next(AT_ONCE, hasCapacity)) {
      const { flow, place } = backlogged
      const room = Math.min(this.roomFor(flow, place), place.passes)
      if (room > 0) yield { backlogged, room }
    }
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
    return place.isStalled && place.name !== this.#options.mainPlace
  }

  /** Finds parked mail, also of workers that are gone. To be called every second. */
  async look(): Promise<void> {
    const found = await this.#options.core.deliveries.parkedFlows(this.#after)
    this.#after = hasMoreParked(found) ? found.at(-1) : undefined
    for (const flow of found) this.#backlog.add(flow, this.named(flow.place))
  }

  /** Closes all connections and frees their slots. */
  async close(): Promise<void> {
    for (const place of this) place.close()
    await Promise.all([this.#limits.close(), this.#slots.close()])
  }

  #forgetIdle(): void {
    for (const [name, place] of this.#places) if (place.isIdle && !this.#backlog.has(place)) this.#places.delete(name)
  }
}
