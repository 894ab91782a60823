import type { Flow } from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'

/** A flow that has mail parked at a destination. */
export interface Backlogged {
  readonly flow: Flow
  /** Name of the destination. */
  readonly destination: string
}

/** How many destinations are looked at to find parked mail that can go on. */
const EXAMINED = 1000
/** Maximum number of entries; others are found later, when there are fewer. */
const MAX_ENTRIES = 50_000

/** The mail that is parked in the database, as far as this worker knows. It is claimed by destination when that has capacity. */
export class Backlog {
  /** The flows by destination. The order of destinations is that in which they are looked at; the flows of a destination take turns. */
  readonly #destinations = new Map<string, Map<number, Flow>>()
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add({ accountId, class: of }: Flow, destination: string): void {
    const key = flowKey({ accountId, class: of })
    const flows = this.#destinations.get(destination)
    if (flows?.has(key) || this.#size >= MAX_ENTRIES) return
    this.#size++
    if (flows) flows.set(key, { accountId, class: of })
    else this.#destinations.set(destination, new Map([[key, { accountId, class: of }]]))
  }

  remove({ flow, destination }: Backlogged): void {
    const flows = this.#destinations.get(destination)
    if (!flows?.delete(flowKey(flow))) return
    this.#size--
    if (flows.size === 0) this.#destinations.delete(destination)
  }

  removeDestination(destination: string): void {
    this.#size -= this.#destinations.get(destination)?.size ?? 0
    this.#destinations.delete(destination)
  }

  has(destination: string): boolean {
    return this.#destinations.has(destination)
  }

  /**
   * Returns at most `count` flows that fulfil a condition, all of one destination: the next one that is open for some flow and has such flows. Destinations
   * and flows that were looked at come last the next time.
   */
  next(count: number, isOpen: (destination: string) => boolean, isWanted: (one: Backlogged) => boolean): Backlogged[] {
    let left = Math.min(this.#destinations.size, EXAMINED)
    for (const [destination, flows] of this.#destinations) {
      if (left-- === 0) break
      this.#destinations.delete(destination)
      this.#destinations.set(destination, flows)
      const found = isOpen(destination) ? this.#wanted(count, [destination, flows], isWanted) : []
      if (found.length > 0) return found
    }
    return []
  }

  #wanted(
    count: number,
    [destination, flows]: readonly [string, Map<number, Flow>],
    isWanted: (one: Backlogged) => boolean,
  ): Backlogged[] {
    const found: Backlogged[] = []
    let left = Math.min(flows.size, count)
    for (const [key, flow] of flows) {
      if (left-- === 0) break
      flows.delete(key)
      flows.set(key, flow)
      if (isWanted({ flow, destination })) found.push({ flow, destination })
    }
    return found
  }
}
