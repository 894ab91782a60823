import type { Flow } from '@postrider/core'
import { flowKey } from './fair-queue.ts'

/** A flow that has mail parked at a place. */
export interface Backlogged {
  readonly flow: Flow
  /** The place's name. */
  readonly place: string
}

/** How many places are looked at to find parked mail that can go on. */
const EXAMINED = 1000
/** Maximum number of entries; others are found later, when there are fewer. */
const MAX_ENTRIES = 50_000

/** The mail that is parked in the database, as far as this worker knows. It is claimed by place when that has capacity. */
export class Backlog {
  /** The flows by place. The order of places is that in which they are looked at; the flows of a place take turns. */
  readonly #places = new Map<string, Map<number, Flow>>()
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add({ accountId, class: of }: Flow, place: string): void {
    const key = flowKey({ accountId, class: of })
    const flows = this.#places.get(place)
    if (flows?.has(key) || this.#size >= MAX_ENTRIES) return
    this.#size++
    if (flows) flows.set(key, { accountId, class: of })
    else this.#places.set(place, new Map([[key, { accountId, class: of }]]))
  }

  remove({ flow, place }: Backlogged): void {
    const flows = this.#places.get(place)
    if (!flows?.delete(flowKey(flow))) return
    this.#size--
    if (flows.size === 0) this.#places.delete(place)
  }

  removePlace(place: string): void {
    this.#size -= this.#places.get(place)?.size ?? 0
    this.#places.delete(place)
  }

  has(place: string): boolean {
    return this.#places.has(place)
  }

  /**
   * Returns at most `count` flows that fulfil a condition, all of one place: the next one that is open for some flow and has such flows. Places
   * and flows that were looked at come last the next time.
   */
  next(count: number, isOpen: (place: string) => boolean, isWanted: (one: Backlogged) => boolean): Backlogged[] {
    let left = Math.min(this.#places.size, EXAMINED)
    for (const [place, flows] of this.#places) {
      if (left-- === 0) break
      this.#places.delete(place)
      this.#places.set(place, flows)
      const found = isOpen(place) ? this.#wanted(count, [place, flows], isWanted) : []
      if (found.length > 0) return found
    }
    return []
  }

  #wanted(
    count: number,
    [place, flows]: readonly [string, Map<number, Flow>],
    isWanted: (one: Backlogged) => boolean,
  ): Backlogged[] {
    const found: Backlogged[] = []
    let left = Math.min(flows.size, count)
    for (const [key, flow] of flows) {
      if (left-- === 0) break
      flows.delete(key)
      flows.set(key, flow)
      if (isWanted({ flow, place })) found.push({ flow, place })
    }
    return found
  }
}
