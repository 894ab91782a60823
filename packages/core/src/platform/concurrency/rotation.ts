import { Tally } from './tally.ts'

/** Milliseconds for which a thread is kept free for others after an item of another holder. */
const OTHERS_FOR = 10_000

/**
 * Items that wait for their turn, each of a holder: the queue of FairTurns and of thread pools. Holders have turns in rotation, so that many items of
 * one delay those of others by one.
 */
export class Rotation<T> {
  /** By holder; the first has the next turn. */
  readonly #queues = new Map<string, T[]>()
  #size = 0
  /** Items that have begun, by holder. */
  readonly #begun = new Tally<string>()
  #latest: string | undefined
  /** When the holder of the latest item was last another one than before it; performance.now(). */
  #changed = Number.NEGATIVE_INFINITY

  /** Number of items of all holders. */
  get size(): number {
    return this.#size
  }

  countOf(holder: string): number {
    return this.#queues.get(holder)?.length ?? 0
  }

  /** The item whose turn is next. */
  get first(): T | undefined {
    const [own] = this.#queues.values()
    return own?.[0]
  }

  push(holder: string, item: T): void {
    if (this.#latest !== undefined && this.#latest !== holder) this.#changed = performance.now()
    this.#latest = holder
    const own = this.#queues.get(holder)
    if (own) own.push(item)
    else this.#queues.set(holder, [item])
    this.#size++
  }

  /** Removes and returns the item whose turn is next. Its holder has the last turn then. */
  shift(): T | undefined {
    const [next] = this.#queues
    return next && this.#take(...next)
  }

  /**
   * As shift, for items that are served by this number of threads; `end` is to be called when the item has been served. One holder may have
   * all threads only while there is no other: a few costly items would otherwise keep others waiting until one of them ends.
   */
  begin(threads: number): { readonly item: T; end(): void } | undefined {
    const hasOthers = performance.now() - this.#changed < OTHERS_FOR
    const most = hasOthers ? Math.max(1, threads - 1) : threads
    for (const [holder, own] of this.#queues) {
      if (this.#begun.of(holder) >= most) continue
      this.#begun.add(holder, 1)
      return { item: this.#take(holder, own), end: () => void this.#begun.add(holder, -1) }
    }
    return undefined
  }

  #take(holder: string, own: T[]): T {
    const item = own.shift() as T
    this.#queues.delete(holder)
    if (own.length > 0) this.#queues.set(holder, own)
    this.#size--
    return item
  }

  /** Removes an item that no longer waits. */
  remove(holder: string, item: T): void {
    const own = this.#queues.get(holder)
    const at = own?.indexOf(item) ?? -1
    if (!own || at === -1) return
    own.splice(at, 1)
    if (own.length === 0) this.#queues.delete(holder)
    this.#size--
  }

  /** Removes and returns all items. */
  drain(): T[] {
    const items = [...this.#queues.values()].flat()
    this.#queues.clear()
    this.#size = 0
    return items
  }
}
