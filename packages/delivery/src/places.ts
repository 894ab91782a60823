import { type Core, type Flow, hasMoreParked, type ParkedFlow } from '@postrider/core'
import { Backlog, type Backlogged } from './backlog.ts'
import { Place, type PlaceLimits, type PlaceOptions } from './place.ts'

/** Waiting deliveries per connection of a place; above this number its mail is parked. Flows share it. */
const WAITING_PER_CONNECTION = 8
const PLACES_KEPT = 20_000
/** Flows of places whose parked mail is claimed before due mail is claimed again. */
const AT_ONCE = 64

export interface PlacesOptions extends Pick<PlaceOptions, 'conversations' | 'slots' | 'run' | 'onCapacity'> {
  readonly core: Core
  readonly limitsOf: (name: string) => PlaceLimits
  /** How many deliveries may wait at a place if all mail goes there; undefined if it goes to many. */
  readonly atSingle: number | undefined
}

/** The places that this worker delivers to, and their parked mail. */
export class Places {
  readonly #options: PlacesOptions
  readonly #places = new Map<string, Place>()
  readonly #backlog = new Backlog()
  #after: ParkedFlow | undefined

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#places.values()
  }

  named(name: string): Place {
    const known = this.#places.get(name)
    if (known) return known
    if (this.#places.size >= PLACES_KEPT) this.#forgetIdle()
    const place = new Place({ ...this.#options, name, limits: this.#options.limitsOf(name) })
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
      const room = this.roomFor(flow, place)
      if (room > 0) yield { backlogged, room }
    }
  }

  /** How many more deliveries of a flow may wait at a place. */
  roomFor(flow: Flow, place: Place): number {
    return this.stalls(place) ? 0 : this.#mostOf(place, flow) - place.waitingOf(flow)
  }

  /** The flow's share, and at least one while there are not too many flows. */
  #mostOf(place: Place, flow: Flow): number {
    const all = this.#options.atSingle ?? place.limits.connections * WAITING_PER_CONNECTION
    const flows = place.flowsWith(flow)
    return flows > 2 * all ? 0 : Math.max(1, Math.floor(all / flows))
  }

  /** Its conversations do not end. If all mail goes to one place, there are no others that need capacity. */
  stalls(place: Place): boolean {
    return place.isStalled && this.#options.atSingle === undefined
  }

  /** Finds parked mail, also of workers that are gone. To be called every second. */
  async look(): Promise<void> {
    const found = await this.#options.core.deliveries.parkedFlows(this.#after)
    this.#after = hasMoreParked(found) ? found.at(-1) : undefined
    for (const flow of found) this.#backlog.add(flow, this.named(flow.place))
  }

  #forgetIdle(): void {
    for (const [name, place] of this.#places) if (place.isIdle && !this.#backlog.has(place)) this.#places.delete(name)
  }
}
