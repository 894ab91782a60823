/** Work that says where it can stop: at each `yield` others may have their turn. What is done between two takes well below 1 ms. */
export type Stoppable<T> = Generator<void, T, void>

/** Milliseconds on the clock that such work takes of one turn of the loop, all of it together. */
const TURN = 5
/** Milliseconds before it waits for its first turn: nearly everything is done by then. */
const AT_ONCE = 1

const waiting: (() => void)[] = []
/** Milliseconds of this turn of the loop that were taken by work done at once. */
let taken = 0

/**
 * Does work without keeping anybody waiting: at once where it is short, else piece by piece, and of all that waits one piece in each
 * turn of the loop, so that a hundred costly messages hold up the others no longer than one.
 */
export function inTurns<T>(work: Stoppable<T>): T | Promise<T> {
  if (taken < TURN) {
    const first = beginAtOnce(work)
    if (first.done) return first.value
  }
  const settle = Promise.withResolvers<T>()
  const go = (): void => {
    try {
      const { done, value } = proceed(work, performance.now() + TURN)
      if (done) settle.resolve(value as T)
      else wait(go)
    } catch (error) {
      settle.reject(error)
    }
  }
  wait(go)
  return settle.promise
}

/** Does all of the work now. For a thread of its own, or for what is known to be short. */
export function atOnce<T>(work: Stoppable<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

function beginAtOnce<T>(work: Stoppable<T>): IteratorResult<void, T> {
  const began = performance.now()
  try {
    return proceed(work, began + AT_ONCE)
  } finally {
    if (taken === 0) setImmediate(forget)
    taken += performance.now() - began
  }
}

function forget(): void {
  taken = 0
}

function proceed<T>(work: Stoppable<T>, until: number): IteratorResult<void, T> {
  for (;;) {
    const result = work.next()
    if (result.done || performance.now() >= until) return result
  }
}

function wait(go: () => void): void {
  if (waiting.push(go) === 1) setImmediate(serve)
}

function serve(): void {
  const go = waiting.shift()
  if (waiting.length > 0) setImmediate(serve)
  go?.()
}
