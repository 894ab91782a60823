/** Work that says where it can stop: at each `yield` others may have their turn. What is done between two takes well below 1 ms. */
export type Stoppable<T> = Generator<void, T, void>

/** Milliseconds on the clock that such work takes of one turn of the loop, all of it together. */
const TURN = 5
/** Milliseconds before it waits for its first turn: nearly everything is done by then. */
const AT_ONCE = 1

const waiting: ((until: number) => void)[] = []
let serving = false
/** Milliseconds of this turn of the loop that were taken by work done at once. */
let taken = 0

/**
 * Does work without keeping anybody waiting: at once where it is short, else piece by piece, and of all that waits some milliseconds in
 * each turn of the loop, so that a hundred costly messages hold up the others no longer than one.
 */
export function inTurns<T>(work: Stoppable<T>): T | Promise<T> {
  if (taken < TURN) {
    const first = beginAtOnce(work)
    if (first.done) return first.value
  }
  const settle = Promise.withResolvers<T>()
  const go = (until: number): void => {
    try {
      const { done, value } = proceed(work, until)
      if (done) settle.resolve(value as T)
      else wait(go)
    } catch (error) {
      settle.reject(error)
    }
  }
  wait(go)
  return settle.promise
}

/** Does what can't be stopped between, as {@link inTurns} does the rest: now, or in a turn that has time for it. */
export function inItsTurn<T>(act: () => T | Promise<T>): T | Promise<T> {
  return inTurns(single(act))
}

// biome-ignore lint/correctness/useYield: it can't be stopped
function* single<T>(act: () => T | Promise<T>): Stoppable<T> {
  return act() as T
}

/** Long work that is not written as a generator: it waits for its turn between two pieces, in the same queue. */
export interface LongWork {
  /** Answers at once unless this piece has lasted long enough. */
  pause(): Promise<void> | undefined
}

export function longWork(): LongWork {
  let began = performance.now()
  return {
    pause() {
      if (performance.now() - began < TURN) return undefined
      return new Promise((resolve) => {
        wait(() => {
          began = performance.now()
          resolve()
        })
      })
    },
  }
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

function wait(go: (until: number) => void): void {
  waiting.push(go)
  if (serving) return
  serving = true
  setImmediate(serve)
}

/** What is not done in its time waits again, behind the others. */
function serve(): void {
  const until = performance.now() + TURN
  for (let left = waiting.length; left > 0 && performance.now() < until; left--) waiting.shift()?.(until)
  serving = waiting.length > 0
  if (serving) setImmediate(serve)
}
