import type { Flow } from '@postrider/core'
import { flowKey } from './fair-queue.ts'
import type { Place } from './place.ts'

/** A flow that has mail parked at a place. */
export interface Backlogged {
  readonly flow: Flow
  readonly place: Place
}

/** How many are looked at to find those that can go on. */
const EXAMINED = 1000

/** The mail that is parked in the database, as far as this worker knows. It is claimed by place when that has capacity. */
export class Backlog {
  /** In the order in which they are looked at. */
  readonly #entries = new Map<string, Backlogged>()
  /** Number of entries by place. */
  readonly #counts = new Map<Place, number>()

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  add({ accountId, class: of }: Flow, place: Place): void {
    const entry: Backlogged = { flow: { accountId, class: of }, place }
    const key = keyOf(entry)
    if (this.#entries.has(key)) return
    this.#entries.set(key, entry)
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1)
  }

  remove(entry: Backlogged): void {
    if (!this.#entries.delete(keyOf(entry))) return
    const left = (this.#counts.get(entry.place) ?? 0) - 1
    if (left > 0) this.#counts.set(entry.place, left)
    else this.#counts.delete(entry.place)
  }

  has(place: Place): boolean {
    return this.#counts.has(place)
  }

  /** At most so many that fulfil a condition. Those that were looked at come last the next time. */
  next(count: number, isWanted: (one: Backlogged) => boolean): Backlogged[] {
    const found: Backlogged[] = []
    // Those that were looked at are seen again only after all others.
    let left = Math.min(this.#entries.size, EXAMINED)
    for (const [key, entry] of this.#entries) {
      if (left-- === 0 || found.length >= count) break
      this.#entries.delete(key)
      this.#entries.set(key, entry)
      if (isWanted(entry)) found.push(entry)
    }
    return found
  }
}

function keyOf({ flow, place }: Backlogged): string {
  return `${flowKey(flow)} ${place.name}`
}
