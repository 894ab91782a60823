/** Work that can be interrupted at each `yield`. The part between two yields takes well below 1 ms. */
export type Stoppable<T> = Generator<void, T, void>

/** Milliseconds per iteration of the event loop that all such work may use together. */
const SLOT_MS = 5
/** Milliseconds that work runs immediately before it is queued; nearly all work is finished by then. */
const IMMEDIATE_MS = 1

const waiting: ((until: number) => void)[] = []
let serving = false
/** Milliseconds of this iteration of the event loop already used by work that ran immediately. */
let used = 0

/**
 * Runs work without blocking the event loop. Short work runs immediately; longer work runs in pieces. All queued work
 * together gets a few milliseconds per iteration of the loop, so that a hundred costly messages delay the others no
 * more than one does.
 */
export function inTurns<T>(work: Stoppable<T>): T | Promise<T> {
  if (used < SLOT_MS) {
    const first = beginImmediately(work)
    if (first.done) return first.value
  }
  const settle = Promise.withResolvers<T>()
  const go = (until: number): void => {
    try {
      const { done, value } = proceed(work, until)
      if (done) settle.resolve(value as T)
      else enqueue(go)
    } catch (error) {
      settle.reject(error)
    }
  }
  enqueue(go)
  return settle.promise
}

/**
 * Runs work that cannot be interrupted under the same rules as {@link inTurns}: immediately, or in an iteration that
 * has time for it.
 */
export function inItsTurn<T>(fn: () => T | Promise<T>): T | Promise<T> {
  return inTurns(single(fn))
}

// biome-ignore lint/correctness/useYield: the work cannot be interrupted
function* single<T>(fn: () => T | Promise<T>): Stoppable<T> {
  return fn() as T
}

/** Long work that is not a generator: between two pieces it waits for its slot in the same queue. */
export interface LongWork {
  /** Returns undefined if this piece has not used its time yet; otherwise a promise that resolves at its next slot. */
  pause(): Promise<void> | undefined
}

export function longWork(): LongWork {
  let began = performance.now()
  return {
    pause() {
      if (performance.now() - began < SLOT_MS) return undefined
      return new Promise((resolve) => {
        enqueue(() => {
          began = performance.now()
          resolve()
        })
      })
    },
  }
}

/** Runs the work to its end. For use in a separate thread, or for work that is known to be short. */
export function atOnce<T>(work: Stoppable<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

function beginImmediately<T>(work: Stoppable<T>): IteratorResult<void, T> {
  const began = performance.now()
  try {
    return proceed(work, began + IMMEDIATE_MS)
  } finally {
    if (used === 0) setImmediate(resetUsed)
    used += performance.now() - began
  }
}

function resetUsed(): void {
  used = 0
}

function proceed<T>(work: Stoppable<T>, until: number): IteratorResult<void, T> {
  for (;;) {
    const result = work.next()
    if (result.done || performance.now() >= until) return result
  }
}

function enqueue(go: (until: number) => void): void {
  waiting.push(go)
  if (serving) return
  serving = true
  setImmediate(serve)
}

/** Serves the queue for one iteration. Work that is not finished in its time goes to the end of the queue. */
function serve(): void {
  const until = performance.now() + SLOT_MS
  for (let left = waiting.length; left > 0 && performance.now() < until; left--) waiting.shift()?.(until)
  serving = waiting.length > 0
  if (serving) setImmediate(serve)
}
