/** How much each of many holders has. One that has nothing takes no memory. */
export class Tally<Holder> {
  readonly #counts = new Map<Holder, number>()

  /** Number of holders that have something. */
  get size(): number {
    return this.#counts.size
  }

  of(holder: Holder): number {
    return this.#counts.get(holder) ?? 0
  }

  /** Returns what the holder has then. */
  add(holder: Holder, change: number): number {
    const count = this.of(holder) + change
    if (count > 0) this.#counts.set(holder, count)
    else this.#counts.delete(holder)
    return count
  }

  [Symbol.iterator](): Iterator<[Holder, number]> {
    return this.#counts.entries()
  }
}
