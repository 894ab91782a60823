/** Items that wait for their turn, each of a holder. Holders have turns in rotation, so that many items of one delay those of others by one. */
export class Rotation<T> {
  /** By holder; the first has the next turn. */
  readonly #queues = new Map<string, T[]>()
  #size = 0

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
    const own = this.#queues.get(holder)
    if (own) own.push(item)
    else this.#queues.set(holder, [item])
    this.#size++
  }

  /** Removes and returns the item whose turn is next. Its holder has the last turn then. */
  shift(): T | undefined {
    const [next] = this.#queues
    if (!next) return undefined
    const [holder, own] = next
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
