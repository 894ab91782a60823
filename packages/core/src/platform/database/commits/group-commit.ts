import { timerDelay } from '../../concurrency/timer-delay.ts'
import { CommitQueue, type CommitQueueOptions, type Waiting } from './commit-queue.ts'

export interface CommitTurn {
  /** When the item came that has waited the longest; performance.now(). */
  readonly since: number
  /** Lets the next batch begin before this one has ended: its outcome may not be known for long. */
  readonly release: () => void
}

/**
 * Group commit: all items that arrive during one commit are written by the next one. Without `spacing` an item waits for others only just
 * after a large batch (LARGE_BATCH). A timer of 2 ms for each cost 18 % of throughput.
 */
export interface GroupCommitOptions<T, R> extends CommitQueueOptions<T> {
  /** Writes a batch in one transaction and returns one result per item, in order. If it throws, all items fail. */
  readonly write: (batch: readonly T[], turn: CommitTurn) => Promise<readonly R[]>
  /**
   * Whether an error affects the whole batch (database unavailable), so that writing the items one by one would not
   * help.
   */
  readonly sharedFault: (error: unknown) => boolean
  /**
   * Milliseconds an item may currently wait for its commit to begin. An item that waits longer is not written and fails
   * with the error from `late`.
   */
  readonly patience?: () => number
  readonly late?: () => Error
  /**
   * Minimum number of milliseconds between the starts of two commits, unless a full batch is waiting; default 0. For
   * items that no client waits for, since a batch of twelve costs little more than one of six.
   */
  readonly spacing?: number
  /** The same while a prompt item waits; default `spacing`. */
  readonly promptSpacing?: number
  /** Milliseconds, for tests; default GATHER_TIMEOUT. */
  readonly gatherTimeout?: number
  /** Maximum number of concurrent commits. A second one starts only if a full batch is waiting, by items or by weight. */
  readonly lanes: number
}

/**
 * Clients whose items were in one large batch send their next ones at about the same time. If the first of these had a commit of its own,
 * as 15 to 33 % of them did, the others would wait for it while this process is idle. So the next commit waits until half as many items are
 * there, or for a millisecond (docs/performance.md, Experiments: 5 to 7 % more HTTP calls).
 */
const LARGE_BATCH = 16
const GATHER_TIMEOUT = 1
/** Batches that are written at once, with those whose outcome is not known: each of these has a connection of its own. */
const MAX_HELD = 4
/** Milliseconds between two checks for late items. */
const CHECK_INTERVAL = 250

export interface GroupCommit<T, R> {
  /** Resolves after the commit that contains the item. A prompt one waits for `promptSpacing` only. */
  add(item: T, options?: { readonly isPrompt: boolean }): Promise<R>
  /** Items not yet committed. */
  readonly size: number
}

// One function, since the lanes, the batches in flight and the timer share one state.
export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): GroupCommit<T, R> {
  const { write, sharedFault, lanes, spacing = 0, patience, late } = options
  const { gatherTimeout = GATHER_TIMEOUT, promptSpacing = spacing } = options
  const queue = new CommitQueue<T, R>(options)
  let running = 0
  let inFlight = 0
  /** Batches that are being written, whether their lane waits for them or not. */
  let held = 0
  let lastStart = Number.NEGATIVE_INFINITY
  let hasPrompt = false
  /** Ends the pause of a lane when it may. */
  let hurry = (): void => {}
  let checkTimer: NodeJS.Timeout | undefined
  let gathering: { readonly enough: number; readonly end: () => void } | undefined

  async function run(): Promise<void> {
    running++
    // A lane that gathers also takes what comes meanwhile.
    while (queue.length > 0 && (!gathering || queue.isFull)) {
      if (pauseLeft() > 0 && !queue.isFull) {
        await pause()
        // Another lane may have taken the items in the meantime.
        if (queue.length === 0) break
      }
      lastStart = performance.now()
      hasPrompt = false
      rejectLate()
      const batch = queue.takeBatch()
      // All items were late: do not write an empty batch, which could block this lane if the database is unavailable.
      if (batch.length === 0) break
      await untilReleased(batch)
      if (batch.length >= LARGE_BATCH && spacing === 0) await gather(batch.length / 2)
    }
    running--
  }

  /** Writes the batch, and resolves when it is written or when the next one may begin. */
  function untilReleased(batch: readonly Waiting<T, R>[]): Promise<void> {
    inFlight += batch.length
    return new Promise((resolve) => {
      const isFree = held < MAX_HELD
      const release = (): void => {
        if (isFree) resolve()
      }
      held++
      void writeBatch(batch, release).then(() => {
        held--
        inFlight -= batch.length
        resolve()
      })
    })
  }

  function pauseLeft(): number {
    return lastStart + (hasPrompt ? promptSpacing : spacing) - performance.now()
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      let timer = setTimeout(resolve, timerDelay(pauseLeft()))
      hurry = () => {
        clearTimeout(timer)
        const left = pauseLeft()
        if (left > 0) timer = setTimeout(resolve, timerDelay(left))
        else resolve()
      }
    })
  }

  /** Resolves when `enough` items or a full batch are waiting, or after the timeout. Two lanes never gather at once. */
  async function gather(enough: number): Promise<void> {
    if (gathering || queue.length >= enough || queue.isFull) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timerDelay(gatherTimeout))
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      gathering = { enough, end }
    })
    gathering = undefined
  }

  function rejectLate(): void {
    if (!patience) return
    const oldest = performance.now() - patience()
    for (const waiting of queue.takeOlderThan(oldest)) waiting.reject(late?.())
  }

  /** Checks periodically while any item is waiting, since a commit that hangs does not start another. */
  function watchForLate(): void {
    checkTimer ??= setInterval(() => {
      rejectLate()
      if (queue.length + inFlight > 0) return
      clearInterval(checkTimer)
      checkTimer = undefined
    }, CHECK_INTERVAL)
  }

  async function writeBatch(batch: readonly Waiting<T, R>[], release: () => void): Promise<void> {
    try {
      const results = await write(
        batch.map(({ item }) => item),
        { since: batch[0]?.since ?? performance.now(), release },
      )
      for (const [at, waiting] of batch.entries()) waiting.resolve(results[at] as R)
    } catch (error) {
      // One item that the database rejects must not fail the others, so each is retried in its own transaction.
      if (batch.length > 1 && !sharedFault(error)) {
        for (const waiting of batch) await writeBatch([waiting], release)
      } else for (const waiting of batch) waiting.reject(error)
    }
  }

  return {
    add(item, { isPrompt = false } = { isPrompt: false }) {
      return new Promise<R>((resolve, reject) => {
        queue.add({ item, resolve, reject, since: performance.now() })
        if (patience) watchForLate()
        if (isPrompt && !hasPrompt) {
          hasPrompt = true
          hurry()
        }
        if (gathering && (queue.length >= gathering.enough || queue.isFull)) gathering.end()
        if (running === 0 || (running < lanes && queue.isFull)) void run()
      })
    },
    get size() {
      return queue.length + inFlight
    },
  }
}
