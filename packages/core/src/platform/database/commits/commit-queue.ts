export interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
  /** performance.now() */
  readonly since: number
}

export interface CommitQueueOptions<T> {
  /** Size of an item in bytes. */
  readonly weigh: (item: T) => number
  readonly maxItems: number
  readonly maxWeight: number
}

/** Items in order of arrival, with their total weight. */
export class CommitQueue<T, R> {
  readonly #waiting: Waiting<T, R>[] = []
  readonly #options: CommitQueueOptions<T>
  #weight = 0

  constructor(options: CommitQueueOptions<T>) {
    this.#options = options
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Whether the items that wait fill a batch. */
  get isFull(): boolean {
    const { maxItems, maxWeight } = this.#options
    return this.#waiting.length >= maxItems || this.#weight >= maxWeight
  }

  add(waiting: Waiting<T, R>): void {
    this.#waiting.push(waiting)
    this.#weight += this.#options.weigh(waiting.item)
  }

  /** Removes and returns the items of one batch. A single item may be heavier than a batch. */
  takeBatch(): Waiting<T, R>[] {
    const { weigh, maxItems, maxWeight } = this.#options
    let batchWeight = 0
    let count = 0
    while (count < this.#waiting.length && count < maxItems) {
      const next = weigh((this.#waiting[count] as Waiting<T, R>).item)
      if (count > 0 && batchWeight + next > maxWeight) break
      batchWeight += next
      count++
    }
    this.#weight -= batchWeight
    return this.#waiting.splice(0, count)
  }

  /** Removes and returns the items that arrived before `oldest`, which are at the head of the queue. */
  takeOlderThan(oldest: number): Waiting<T, R>[] {
    const first = this.#waiting.findIndex(({ since }) => since >= oldest)
    const late = this.#waiting.splice(0, first === -1 ? this.#waiting.length : first)
    for (const { item } of late) this.#weight -= this.#options.weigh(item)
    return late
  }
}
