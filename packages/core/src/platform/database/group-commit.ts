/**
 * Group commit without waiting: whatever has queued up while the previous commit ran is written in the next one. No linger
 * timer, which cost 18 % of throughput at 2 ms.
 */
export interface GroupCommitOptions<T, R> {
  /** Writes a batch in one transaction and answers one result an item, in order. Throwing fails them all. */
  readonly write: (batch: readonly T[], isWanted: (at: number) => boolean) => Promise<readonly R[]>
  /** What an item weighs, in octets. */
  readonly weigh: (item: T) => number
  readonly maxItems: number
  readonly maxWeight: number
  /** Is this fault of the whole batch (the database is away), so that writing its items one by one would not help? */
  readonly sharedFault: (error: unknown) => boolean
  /**
   * Milliseconds an item may wait for its commit to begin, as things stand; then it is not written, and `late` says what it is
   * refused with.
   */
  readonly patience?: () => number
  readonly late?: () => Error
  /** So many milliseconds may it wait for the end of it, too; what is on its way then may be written or not. */
  readonly answersInTime?: boolean
  /**
   * Milliseconds between the beginnings of two commits, unless a full batch waits: for what nobody waits for, since a batch of
   * twelve costs little more than one of six. None where clients wait.
   */
  readonly spacing?: number
  /** Commits at the same time. A second one starts only when a full batch is waiting, by number or by weight. */
  readonly lanes: number
}

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
  /** performance.now() */
  readonly since: number
  /** It was refused, being late, and is not to be written any more. */
  refused: boolean
}

/** Milliseconds between looks for what is late. */
const LOOK_EVERY = 250

export interface GroupCommit<T, R> {
  /** Answers after the commit that holds the item. */
  add(item: T): Promise<R>
  /** Items not yet committed. */
  readonly size: number
}

export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): GroupCommit<T, R> {
  const { write, weigh, maxItems, maxWeight, sharedFault, lanes, spacing = 0, late } = options
  const { patience, answersInTime = false } = options
  const queue: Waiting<T, R>[] = []
  let running = 0
  /** Of the queue. */
  let weight = 0
  let inFlight = 0
  let begun = Number.NEGATIVE_INFINITY
  const underWay = new Set<readonly Waiting<T, R>[]>()
  let looking: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    running++
    while (queue.length > 0) {
      const early = begun + spacing - performance.now()
      if (early > 0 && !isFull()) {
        await new Promise((resolve) => setTimeout(resolve, early))
        // Another lane may have taken them meanwhile.
        if (queue.length === 0) break
      }
      begun = performance.now()
      refuseLate()
      const batch = takeBatch()
      // All were late: nothing to write, perhaps to a database that would keep this lane waiting for it.
      if (batch.length === 0) break
      inFlight += batch.length
      await writeBatch(batch)
      inFlight -= batch.length
    }
    running--
  }

  /** The queue is in order: whoever waits longest stands first. */
  function refuseLate(): void {
    if (!patience) return
    const oldest = performance.now() - patience()
    const first = queue.findIndex(({ since }) => since >= oldest)
    for (const waiting of queue.splice(0, first === -1 ? queue.length : first)) {
      weight -= weigh(waiting.item)
      refuse(waiting)
    }
    if (!answersInTime) return
    for (const batch of underWay) {
      for (const waiting of batch) if (waiting.since < oldest && !waiting.refused) refuse(waiting)
    }
  }

  function refuse(waiting: Waiting<T, R>): void {
    waiting.refused = true
    waiting.reject(late?.())
  }

  /** One slow timer while anything waits, since a write that hangs begins no other. */
  function watchForLate(): void {
    looking ??= setInterval(() => {
      refuseLate()
      if (queue.length + inFlight > 0) return
      clearInterval(looking)
      looking = undefined
    }, LOOK_EVERY)
  }

  function isFull(): boolean {
    return queue.length >= maxItems || weight >= maxWeight
  }

  function takeBatch(): Waiting<T, R>[] {
    let taken = 0
    let count = 0
    while (count < queue.length && count < maxItems) {
      const next = weigh((queue[count] as Waiting<T, R>).item)
      if (count > 0 && taken + next > maxWeight) break
      taken += next
      count++
    }
    weight -= taken
    return queue.splice(0, count)
  }

  async function writeBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    underWay.add(batch)
    try {
      const results = await write(
        batch.map(({ item }) => item),
        (at) => batch[at]?.refused === false,
      )
      for (const [at, waiting] of batch.entries()) waiting.resolve(results[at] as R)
    } catch (error) {
      // One item the database can't take must not fail the others: each gets a transaction of its own.
      if (batch.length > 1 && !sharedFault(error)) {
        for (const waiting of batch) if (!waiting.refused) await writeBatch([waiting])
      } else for (const waiting of batch) waiting.reject(error)
    } finally {
      underWay.delete(batch)
    }
  }

  return {
    add(item) {
      return new Promise<R>((resolve, reject) => {
        queue.push({ item, resolve, reject, since: performance.now(), refused: false })
        weight += weigh(item)
        if (patience) watchForLate()
        if (running === 0 || (running < lanes && isFull())) void run()
      })
    },
    get size() {
      return queue.length + inFlight
    },
  }
}
